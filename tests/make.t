#!/usr/bin/env perl
# The Makefile, tried on a small book of its own: what is linked, what is made
# anew and when, and where pandoc is looked for.

use strict;
use warnings;
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Chapter;
use Test::More;

my $make = $ENV{MAKE} // 'make';
delete @ENV{qw(BUILD CFLAGS JOBS LDFLAGS LDLIBS MAKEFLAGS MAKELEVEL MFLAGS RUN_UNDER)};
my $folder = tempdir(CLEANUP => 1);

sub save {
    my ($path, @lines) = @_;
    chmod 0755, Chapter::save("$folder/$path", @lines);
}

sub make {
    my ($arguments) = @_;
    my $said = `$make -C '$folder' $arguments 2>&1`;
    return ($? >> 8, $said);
}

# Is this up to date?
sub is_made { return !(make("-q $_[0]"))[0] }

make_path(map { "$folder/$_" } qw(bin chapters make src/support tests tools/weave));
copy($_, "$folder/$_") or die "$_: $!\n" for glob('make/*.mk'), qw(Makefile tools/start.c src/support/program.h tools/weave/code tools/Chapter.pm tools/weave/find-pandoc);
chmod 0755, glob "$folder/tools/weave/*";
save('requirements.txt', 'pandoc');
save('src/attention.h', 'int support(void);', '#define SHOW "none"');
save('src/support.c', '#include "attention.h"', '#include "support/program.h"', 'int support(void) { return 1; }',
    'int run_program(int (*program)(int, char **), int argc, char *argv[]) { return program(argc, argv); }');
my @chapters = qw(01_one 05_tokens 06_six B_normals C_last);
save("chapters/$chapters[$_].c", '/*', 'Prose.', '*/', "int main(void) { return $_; }") for 0 .. $#chapters;
save('tests/support.c', '#include "attention.h"', 'int main(void) { return !support(); }');

# ---- Targets.

my $makefile = do { local (@ARGV, $/) = ('Makefile', glob 'make/*.mk'); join '', <> };
my $phony = join ' ', $makefile =~ /^\.PHONY: ([a-z](?:[^\n\\]|\\\n)*)/mg;
is_deeply [grep { $makefile !~ /^(?:[\w -]* )?\Q$_\E(?: [\w -]*)?:/m } grep { $_ ne '\\' } split ' ', $phony], [],
  'what can be asked for has a rule: without one, make would do nothing and be content';

# A chapter that cannot be graded is no matter to what grades nothing.
for ('student', 'quiz', 'worksheet') {
    my $said = `$make -n $_ CHAPTER=all 2>&1`;
    like $said, qr{^tools/\w+/$_ 'all' }m, "$_ takes its chapters itself";
}

# What someone gives reaches a tool as it is, whatever it holds.
my $odd = q{it's a "b" & `c`; $(touch x) $(shell touch x) $$HOME \\};
my @given = map { s/'/'\\''/gr } map {"$_=$odd"} qw(CHAPTER DIR NAME SEED COPIES PAPER WORK TITLE);
my $would = `$make -n student handout autograder worksheet quiz chapter grade grade-all @{[map {"'$_'"} @given]}`;
for (['student', $odd, $odd], ['handout', "$odd.conf", 'build/handout', $odd], ['autograder', "$odd.conf", 'build/autograder'],
     ['worksheet', ($odd) x 4], ['quiz', $odd, $odd], ['new-chapter', $odd, $odd], ['grade', $odd, "$odd.conf"],
     ['grade-all', $odd, "build/grades/$odd", "$odd.conf"]) {
    my ($tool, @words) = @$_;
    my ($takes) = $would =~ m{^(?:\w+=\w+ )?tools/\w+/$tool (.*)$}m;
    is `printf '<%s>' $takes`, join('', map {"<$_>"} @words), "$tool takes what is given";
}

($would = `$make -n bench-train train mutants graders STEPS='1;2' SIZES='3;4 5' CHAPTER="';x" FILES="';x" 2>&1`) =~ s/ +/ /g;
like $would, qr/\Q$_\E/, "... and so does what takes $_"
  for q(--steps '1;2'), q(.tsv '3;4' '5'), q(printf '%s\n' ''\'';x');
like `$make student DIR='a\ntouch x' CHAPTER=01 2>&1`, qr/\A\S+ \*\*\* DIR has more than one line: one is needed\.  Stop\.\n\z/,
  '... but for a second line';
like `BUILD='$_' $make help 2>&1`, qr/\A\S+ \*\*\* BUILD is "\Q$_\E": the name of one folder, [^\n]* is needed\.  Stop\.\n\z/,
  "a build folder is not to be $_" for 'a b', 'a"b', 'a`b', 'a\\b', 'a;b', 'a*b';
ok !-e 'x', '... and nothing of it is run';

# ---- What make tests.

my ($prove) = `$make -n test-c 2>&1` =~ /^(.*\bprove)\b/m;
is_deeply [grep { !/\$\(prove\)/ } $makefile =~ /^\t(.*\bprove\b.*)/mg], [], 'all tests are run alike';
for (['does not warn', '', 0], ['warns', 'my $x = undef . 1;', 1], ['warns, and catches that', 'eval { my $x = undef . 1 };', 1],
     ['has one begun that warns', q{system($^X, '-we', 'undef . 1; print 1') == 0 or exit 1;}, 1]) {
    save('warns.t', 'use warnings;', 'print "1..1\nok 1\n";', $_->[1]);
    is !!system("cd '$folder' && $prove warns.t >prove.said 2>&1"), !!$_->[2], "one that $_->[0] " . ($_->[2] ? 'fails' : 'passes');
}

# ---- Linking.

my ($status, $said) = make('test-programs');
is $status, 0, 'the small book is built' or diag $said;
my %linked;
for (split /\n/, $said =~ s/\\\n//gr) {
    my ($made) = m{(?:-o|ar rcs) build/([\w/.]+)(?<!\.o)\.new } or next;
    $linked{$made} = join ' ', m{build/(?:obj|tests)/(\w+)\.o}g, m{build/(lib\w+)\.a (?!build)}g;
}
is_deeply \%linked, {
    'chapters/01_one'    => '01_one libsupport',
    'chapters/05_tokens' => '05_tokens 01_one B_normals libsupport',
    'chapters/06_six'    => '06_six 01_one B_normals 05_tokens libsupport',
    'chapters/B_normals' => 'B_normals 01_one libsupport',
    'chapters/C_last'    => 'C_last 01_one B_normals 05_tokens 06_six libsupport',
    'libsupport.a'       => 'support',
    'libattention.a'     => '01_one 05_tokens 06_six B_normals C_last support',
    'tests/support'      => 'support libattention',
}, 'each object is linked once, where it is needed';

is join(' ', map { system("$folder/build/chapters/$_") >> 8 } @chapters), '0 1 2 3 4',
  '... and a program begins with its own main';

# ---- What compilers can do.

# A compiler that links OpenMP into programs which cannot start, as musl-gcc does.
save('bin/without', '#!/bin/sh', 'cc "$@" || exit', 'case " $* " in *" -c "*) exit ;; *" -fopenmp "*) ;; *) exit ;; esac',
    'for word; do', '[ "$last" = -o ] && printf "#!/bin/sh\nexit 127\n" >"$word"', 'last=$word', 'done', ':');
my $has_openmp = !system "echo 'int main(void) { return 0; }' | cc -fopenmp -x c - -o '$folder/openmp' 2>&1";
for (['cc', $has_openmp], ["$folder/bin/without", 0]) {
    my ($compiler, $has) = @$_;
    my $threaded = scalar(() = `$make -n lib BUILD=build/other CC='$compiler' 2>/dev/null` =~ /-fopenmp(?!-simd)/g);
    is !!$threaded, !!$has, "$compiler: OpenMP is " . ($has ? 'used' : 'not used');
}
for (['', 0], ['-ffast-math', 1], ['-Ofast', 1], ['-ffinite-math-only', 1]) {
    my ($flag, $refused) = @$_;
    my $said = `cc $flag -Isrc -fsyntax-only -x c src/support.h 2>&1`;
    is !!($said =~ /error.*infinity/), !!$refused, "'$flag' is " . ($refused ? 'refused' : 'taken');
}

# ---- What is made anew.

ok is_made('test-programs'), 'then nothing is left to do';
for my $other (q{CFLAGS="-DIT=\"'a  b'\""}, 'LDFLAGS=-Wl,-z,now') {
    ok !is_made("test-programs $other"), "with $other there is";
    ($status, $said) = make("test-programs $other");
    is $status, 0, '... and it is done' or diag $said;
    my ($compiled, $linked) = map { scalar(() = $said =~ /$_/g) } qr/ -c /, qr/-lm -o/;
    is "$compiled $linked", '7 6', '... to all that is compiled or linked';
    is scalar(() = $said =~ /\Q$1\E.*-lm -o/g), 6, '... with it' if $other =~ /LD\w+=(.*)/;
    is scalar(() = $said =~ /-O2.* -O0 .*-c/g), $other =~ /CFLAGS/ ? 0 : 1, '... tests without optimization, if nothing is said';
    ok is_made("test-programs $other"), '... once';
    ok !is_made('test-programs'), '... and again without';
}
# A compiler that leaves half of what it was to make, and of what it says that this was
# made from, and takes make with it.
save('bin/slain', '#!/bin/sh', 'cc "$@" || exit', '[ -e slay ] || exit 0', 'case $* in *$(cat slay)*) ;; *) exit 0 ;; esac',
    'for word; do', 'case $last in -o | -MF) head -c 40 "$word" >half; cat half >"$word" ;; esac', 'last=$word', 'done',
    'rm slay; kill -9 0');
for my $made ('obj/06_six.o', 'chapters/06_six') {
    save('slay', "$made.new");
    unlink "$folder/build/flags";
    my $child = fork // die "fork: $!\n";
    if (!$child) {
        setpgrp;
        open STDOUT, '>', "$folder/said" and open STDERR, '>&', *STDOUT;
        exec $make, '-C', $folder, "CC=$folder/bin/slain", 'test-programs' or die "$make: $!\n";
    }
    waitpid $child, 0;
    is $? & 127, 9, "make is killed when half of $made is there";
    unlink "$folder/slay"; # or the next make would be killed, with this test
    ($status, $said) = make("test-programs CC='$folder/bin/slain'");
    is $status . system("$folder/build/chapters/06_six") . system("$folder/build/tests/support"), '0' . (2 << 8) . '0',
      '... and goes on as if it had not been' or diag $said;
}
make('test-programs');
my $six = 'chapters/06_six.c';
for (['another word', 0, '/*', 'Other prose.', '*/', 'int main(void) { return 2; }'],
     ['another line', 1, '/*', 'Other', 'prose.', '*/', 'int main(void) { return 2; }'],
     ['other code', 1, '/*', 'Other', 'prose.', '*/', 'int main(void) { return 7; }'],
     ['code instead of prose', 1, 'int prose;', 'int', 'more;', '', 'int main(void) { return 7; }']) {
    my ($name, $compiled, @lines) = @$_;
    save($six, @lines);
    is !is_made('test-programs'), !!$compiled, "$name: " . ($compiled ? 'is compiled' : 'nothing is compiled');
    ($status, $said) = make('test-programs');
    is join(' ', $said =~ m{ -c \S+/(\w+)\.c}g), $compiled ? '06_six' : '', '... nor anything else';
}
is system("$folder/build/chapters/06_six") >> 8, 7, '... and what is run is what was last compiled';
save($six, '/*', 'Prose.', '*/', 'int main(void) { return six; }');
($status, $said) = make('test-programs');
like $said, qr{^\Q$six\E:4:.*six}m, 'the compiler names the line of the chapter';
isnt $status, 0, '... whose program is not made';
save($six, '/*', 'Prose.', '*/', 'int main(void) { return 2; }');
make('test-programs');
rename "$folder/tools/weave/code", "$folder/tools/weave/gone";
($status, $said) = make('test-programs');
isnt $status, 0, 'what cannot be looked at is not compiled';
rename "$folder/tools/weave/gone", "$folder/tools/weave/code";
make('test-programs');
unlink "$folder/$six";
make('test-programs');
is join(' ', glob "$folder/build/*/*six*"), '', 'nothing stays of a chapter that has gone';
unlike `ar t '$folder/build/libattention.a'`, qr/six/, '... nor in the library';
# ---- What is compiled is the chapter without its prose: to the compiler the same,
# line by line, wherever comments begin and end.

my $cc = $ENV{CC} // 'cc';
my ($at, $to) = ('chapters/06_six.c', 'build/code/06_six.c');
for (['prose', "/*\nWord.\n*/\nint a = __LINE__;\n", 'Word'],
     ['prose to the end', "int a;\n/*\nWord.\n*/", 'Word'],
     ['ends of lines as elsewhere', "/*\r\nWord.\r\n*/\r\nint a = __LINE__;\r\n", 'Word'],
     ['code behind the end of prose', "/*\nWord. */ int a = __LINE__;\n/*\nWord.\n*/int b = __LINE__;\n", 'Word'],
     ['a comment in the middle of which prose seems to begin', "/* Not\n/*\nWord.\n*/ int a = __LINE__;\n/**/ int b;\n"],
     ['comments in code', "int a; /* 1 */\n// /*\nint b = __LINE__; // */\nchar *c = \"/*\";\n/*\nWord\n*/\nint d = __LINE__;\n", 'Word'],
     ['nothing', '']) {
    my ($name, $text, $gone) = @$_;
    unlink "$folder/$to";
    open my $file, '>:raw', "$folder/$at" or die "$folder/$at: $!\n";
    print $file $text;
    close $file;
    make('-n programs');
    my ($chapter, $code) = map { `cd '$folder' && $cc -E -P $_ 2>&1; echo \$?` =~ s/^\S+?:(?=\d+:)|^ +//gmr } $at, $to;
    is $code, $chapter, "$name: the same is compiled";
    ok -e "$folder/$to" && !(defined $gone && `cat '$folder/$to'` =~ /$gone/), '... without prose';
}
unlink "$folder/$at";
is join(' ', map { (make($_))[0] } qw(clean help)) . (-e "$folder/build/code" ? ' code' : ''), '0 0',
  'what compiles nothing looks at no chapter';
# ---- Pandoc.

# A Python that makes an environment, whose Python installs a pandoc and says
# where it is. Folders of other versions are none of its business.
sub python_that {
    my ($works) = @_;
    save('bin/python3', '#!/bin/sh', 'echo "$*" >>made', $works ? () : 'exit 1', "mkdir -p .venv/bin",
        "cat >.venv/bin/python <<'END'", '#!/bin/sh',
        'pandoc=$PWD/.venv/lib/python3.2/site-packages/pypandoc/files/pandoc',
        '[ "$1" = -m ] || { [ -x $pandoc ] && echo $pandoc; exit; }',
        'mkdir -p ${pandoc%/*}', 'echo "#!/bin/sh" >$pandoc', 'chmod +x $pandoc', 'END',
        'chmod +x .venv/bin/python');
}

# Looks for pandoc: what is found, and how Python was asked for one.
my $stamp = 'build/pandoc.found';
sub is_found {
    my ($pandoc, $asked, $name) = @_;
    local $ENV{TMPDIR} = "$folder/none"; # it needs none
    ok !is_made($stamp), "$name: is looked for";
    my (undef, $said) = make($stamp);
    is $said =~ m{^\Q$folder/$pandoc\E is pandoc 3\.0, not the one of}m, $pandoc =~ /^bin/, '... what is not tested with is told';
    is readlink "$folder/build/pandoc", "$folder/$pandoc", '... and found';
    is `cat '$folder/made'`, "$asked\n", '... after Python was asked';
    unlink "$folder/made";
    ok is_made($stamp), '... once';
}

$ENV{PATH} = "$folder/bin:$ENV{PATH}";
save('bin/pandoc', '#!/bin/sh', 'echo pandoc 3.0');
utime 1, 1, "$folder/bin/pandoc";
python_that(0);
is_found('bin/pandoc', '-m venv .venv', 'an old one on the PATH');

python_that(1);
unlink "$folder/bin/pandoc";
make_path("$folder/.venv/lib/python3.$_/site-packages/pypandoc/files") for 1, 3;
save(".venv/lib/python3.$_/site-packages/pypandoc/files/pandoc", '#!/bin/sh') for 1, 3;
my $own = '.venv/lib/python3.2/site-packages/pypandoc/files/pandoc';
is_found($own, '-m venv .venv', 'one in .venv, when that has gone');
unlink "$folder/$own";
is_found($own, '-m venv --clear .venv', 'another, when that has gone, too');

# Where there is none: what is missing, and what was found instead.
sub is_missing {
    my ($says, $name) = @_;
    my ($status, $said) = make($stamp);
    is $status, 2, "$name: there is none";
    like $said, qr/^Weaving the book needs pandoc 3 or later: $says; or put such a version on the PATH\./m, '... and it is said why';
}
python_that(0);
unlink "$folder/build/pandoc", "$folder/$own";
save('bin/pandoc', '#!/bin/sh', 'echo pandoc 2.17.1.1');
is_missing(qr/install python3-venv, [^;]+ \(\Q$folder\E\/bin\/pandoc is pandoc 2\.17\.1\.1\)/, 'one that is too old');
save('bin/python3', '#!/bin/sh', 'mkdir -p .venv/bin', q(printf '#!/bin/sh\necho ERROR: no luck\nexit 1\n' >.venv/bin/python),
    'chmod +x .venv/bin/python');
is_missing(qr/pip has not fetched pandoc from PyPI \(which takes a network\): ERROR: no luck [^;]+/, 'one that cannot be fetched');

done_testing;
