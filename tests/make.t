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
my $folder = tempdir(CLEANUP => 1) . "/My [a]{b}";

sub save {
    my ($path, @lines) = @_;
    chmod 0755, Chapter::save("$folder/$path", @lines);
}

sub make {
    my ($arguments) = @_;
    my $said = `$make -C "$folder" $arguments 2>&1`;
    return ($? >> 8, $said);
}

# Is this up to date?
sub is_made { return !(make("-q $_[0]"))[0] }

make_path(map { "$folder/$_" } qw(bin chapters make src/support tests tools/weave));
copy($_, "$folder/$_") or die "$_: $!\n" for glob('make/*'), qw(Makefile tools/start.c src/support/program.h tools/Chapter.pm tools/weave/find-pandoc);
chmod 0755, "$folder/tools/weave/find-pandoc";
save('requirements.txt', 'pandoc');
save('src/attention.h', 'int support(void);');
save('src/support.c', '#include "attention.h"', '#include "support/program.h"', 'int support(void) { return 1; }',
    'int run_program(int (*program)(int, char **), int argc, char *argv[]) { return program(argc, argv); }');
my @chapters = qw(01_one 05_tokens 06_six B_normals C_last);
save("chapters/$chapters[$_].c", '/*', 'Prose.', '*/', "int main(int argc, char *argv[]) { return argv[argc] ? 9 : $_; }")
  for 0 .. $#chapters;
save('tests/support.c', '#include "attention.h"', 'int main(void) { return !support(); }');

# ---- What can be asked for.

my $makefile = do { local (@ARGV, $/) = ('Makefile', glob 'make/*.mk'); join '', <> };
my $phony = join ' ', $makefile =~ /^\.PHONY: ([a-z](?:[^\n\\]|\\\n)*)/mg;
is_deeply [grep { $makefile !~ /^(?:[\w -]* )?\Q$_\E(?: [\w -]*)?:/m } grep { !/^(?:\\|ask|inside|workbench)$/ } split ' ', $phony], [],
  'what can be asked for has a rule: without one, make would do nothing and be content';
is_deeply [$makefile =~ /^(?!\t).*\$\(shell .*$/mg], [], 'no program runs while make reads its files';
like `$make student CHAPTER='it'"'"'s "9" & \`x\`' DIR=x 2>&1`, qr/there is no chapter 'it's':/, 'what someone gives reaches a tool as it is';
like `BUILD='a b' $make help 2>&1`, qr/\A\S+ \*\*\* BUILD is "a b"; it must be the name of one folder/, 'BUILD is one folder';
my $tests = `$make -n test-c 2>&1`;
my ($prove) = $tests =~ /^(.*\bprove)\b/m;
for (['does not warn', '', 0], ['warns', 'my $x = undef . 1;', 1], ['warns, and catches that', 'eval { my $x = undef . 1 };', 1],
     ['has one begun that warns', q{system($^X, '-we', 'undef . 1; print 1') == 0 or exit 1;}, 1]) {
    save('warns.t', 'use warnings;', 'print "1..1\nok 1\n";', $_->[1]);
    is !!system("cd \"$folder\" && PERL5LIB='$ENV{PERL5LIB}' PERL5OPT=-MLoud prove warns.t >prove.said 2>&1"), !!$_->[2],
      "a test that $_->[0] " . ($_->[2] ? 'fails' : 'passes');
}
like $prove, qr/PERL5OPT=-MLoud/, '... where make runs it';

# ---- What is linked with what.

my ($status, $said) = make('test-programs');
is $status, 0, 'the small book is built' or diag $said;
my %linked;
for (split /\n/, $said) {
    my ($made) = m{(?:-o|ar rcs) build/([\w/.]+)(?<!\.o)(?= |$)} or next;
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
}, 'each chapter is linked with those before it';
is join(' ', map { system("'$folder/build/chapters/$_'") >> 8 } @chapters), '0 1 2 3 4', '... and a program runs its own main';

# ---- What a compiler can do: one that links OpenMP into programs which cannot start, as
# musl-gcc does.

save('bin/without', '#!/bin/sh', 'cc "$@" || exit', 'case " $* " in *" -c "*) exit ;; *" -fopenmp "*) ;; *) exit ;; esac',
    'for word; do', '[ "$last" = -o ] && printf "#!/bin/sh\nexit 127\n" >"$word"', 'last=$word', 'done', ':');
my $has_openmp = !system "echo 'int main(void) { return 0; }' | cc -fopenmp -x c - -o '$folder/../openmp' 2>&1";
for (['cc', $has_openmp], ['bin/without', 0]) {
    my ($compiler, $has) = @$_;
    my $threaded = scalar(() = (make("-n programs BUILD=other CC=$compiler"))[1] =~ /-fopenmp(?!-simd)/g);
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
    is scalar(() = $said =~ / -c /g), 12, '... to all that is compiled';
    ok is_made("test-programs $other"), '... once';
}
make('test-programs');
my $six = 'chapters/06_six.c';
for (['other prose', 2, '/*', 'Other', 'prose.', '*/', 'int main(int argc, char *argv[]) { return argv[argc] ? 9 : 2; }'],
     ['other code', 7, '/*', 'Other', 'prose.', '*/', 'int main(int argc, char *argv[]) { return argv[argc] ? 9 : 7; }']) {
    my ($name, $returns, @lines) = @$_;
    save($six, @lines);
    ok !is_made('programs'), "$name is compiled";
    ($status, $said) = make('programs');
    is join(' ', $said =~ m{ -c \S+/(\w+)\.c}g), '06_six', '... and nothing else';
    is system("'$folder/build/chapters/06_six'") >> 8, $returns, '... and run';
    ok is_made('programs'), '... and then all is up to date';
}
save($six, '/*', 'Prose.', '*/', 'int main(void) { return six; }');
($status, $said) = make('test-programs');
like $said, qr{^\Q$six\E:4:.*six}m, 'the compiler names the line of the chapter';
isnt $status, 0, '... whose program is not made';
is +(make('build/chapters/05_tokens'))[0], 0, '... while those before it are';
unlink "$folder/$six";
is +(make('test-programs'))[0], 0, 'a chapter that has gone is missed by nobody';
unlike `ar t "$folder/build/libattention.a"`, qr/six/, '... nor by the library';

# ---- Pandoc.

# A Python that makes an environment, whose Python installs a pandoc and says
# where it is. Folders of other versions are none of its business.
sub python_that {
    my ($works) = @_;
    save('bin/python3', '#!/bin/sh', 'echo "$*" >>made', $works ? () : 'exit 1', "mkdir -p .venv/bin",
        "cat >.venv/bin/python <<'END'", '#!/bin/sh',
        'pandoc=$PWD/.venv/lib/python3.2/site-packages/pypandoc/files/pandoc',
        '[ "$1" = -m ] || { [ -x "$pandoc" ] && echo "$pandoc"; exit; }',
        'mkdir -p "${pandoc%/*}"', 'echo "#!/bin/sh" >"$pandoc"', 'chmod +x "$pandoc"', 'END',
        'chmod +x .venv/bin/python');
}

# Looks for pandoc: what is found, and how Python was asked for one.
sub looked_for { my $said = `cd "$folder" && tools/weave/find-pandoc build/pandoc 2>&1`; return ($? >> 8, $said) }
sub is_found {
    my ($pandoc, $asked, $name) = @_;
    local $ENV{TMPDIR} = "$folder/none"; # it needs none
    my (undef, $said) = looked_for();
    is $said =~ m{^\Q$folder/$pandoc\E is pandoc 3\.2, not the one of}m, $pandoc =~ /^bin/, "$name: what is not tested with is told";
    is readlink "$folder/build/pandoc", "$folder/$pandoc", '... and found';
    is `cat "$folder/made"`, "$asked\n", '... after Python was asked';
    unlink "$folder/made";
}

$ENV{PATH} = "$folder/bin:$ENV{PATH}";
save('bin/pandoc', '#!/bin/sh', 'echo pandoc 3.2');
python_that(0);
is_found('bin/pandoc', '-m venv .venv', 'one on the PATH');

python_that(1);
unlink "$folder/bin/pandoc";
make_path("$folder/.venv/lib/python3.$_/site-packages/pypandoc/files") for 1, 3;
save(".venv/lib/python3.$_/site-packages/pypandoc/files/pandoc", '#!/bin/sh') for 1, 3;
my $own = '.venv/lib/python3.2/site-packages/pypandoc/files/pandoc';
is_found($own, '-m venv .venv', 'one in .venv');
unlink "$folder/$own";
is_found($own, '-m venv --clear .venv', 'another, when that has gone');

# Where there is none: what is missing, and what was found instead.
sub is_missing {
    my ($says, $name) = @_;
    my ($status, $said) = looked_for();
    is $status, 1, "$name: there is none";
    like $said, qr/^Weaving the book needs pandoc 3.2 or later: $says; or put such a version on the PATH\./m, '... and it is said why';
}
python_that(0);
unlink "$folder/build/pandoc", "$folder/$own";
save('bin/pandoc', '#!/bin/sh', 'echo pandoc 2.17.1.1');
is_missing(qr/install python3-venv, [^;]+ \(\Q$folder\E\/bin\/pandoc is pandoc 2\.17\.1\.1\)/, 'one that is too old');
save('bin/python3', '#!/bin/sh', 'mkdir -p .venv/bin', q(printf '#!/bin/sh\necho ERROR: no luck\nexit 1\n' >.venv/bin/python),
    'chmod +x .venv/bin/python');
is_missing(qr/pip has not fetched pandoc from PyPI \(which takes a network\): ERROR: no luck [^;]+/, 'one that cannot be fetched');

done_testing;
