#!/usr/bin/env perl
# The student edition: what is emptied compiles without a warning, and its
# tests fail exactly for it; an edition is tried from its making to its end.
#
# Which tests need an exercise is asked of the solutions, all of which say when
# they are called, and go on. In the edition just these tests fail, each for an
# exercise that it needs.

use strict;
use warnings;
use File::Temp qw(tempdir);
use Chapter;
use Test::More;

my $build = $ENV{BUILD} // 'build';
my $make  = $ENV{MAKE} // 'make';
delete @ENV{qw(BUILD MAKEFLAGS MAKELEVEL MFLAGS RUN_UNDER FIGURES)};
my $folder = tempdir(CLEANUP => 1);
open my $file, '<', "$build/flags" or die "$build/flags: $!: make test-programs makes it\n";
my ($compile, $link, $soon) = split /\|/, <$file>;

sub command {
    my ($text) = @_;
    my $said = `$text 2>&1`;
    return ($? >> 8, $said);
}

# Compiles lines as this chapter, as the Makefile does with tests, into an object.
# Returns what the compiler says.
sub compile {
    my ($chapter, $object, @lines) = @_;
    my $source = Chapter::save("$folder/$chapter->{name}.c", @lines);
    return (command("$compile $soon -Wno-unused-parameter -Wmissing-prototypes "
        . "-D'main=__attribute__((weak)) main' -c '$source' -o '$object'"))[1];
}

# Links objects into a program. Returns what the linker says.
sub linked {
    my @objects = map {"'$_'"} @_;
    return (command("$compile @objects $build/libattention.a $link -lm -o '$folder/program'"))[1];
}

sub build {
    my ($chapter, $tests, @lines) = @_;
    return compile($chapter, "$folder/program.o", @lines) . linked("$folder/program.o", $tests ? $tests : ());
}

sub run_tests {
    my ($chapter, @lines) = @_;
    is build($chapter, "$build/tests/$chapter->{name}.o", @lines), '', "$chapter->{name}: its tests compile";
    return Chapter::run_tests("$folder/program");
}

# The chapter's lines, with exercises that say that they are called, and go on.
sub telling {
    my ($chapter, @exercises) = @_;
    my @lines = @{$chapter->{lines}};
    for (@exercises) {
        my ($open) = $chapter->body($_->{function});
        $lines[$open] .= qq( { static int once; if (!once++) fputs("exercise $_->{id} is still empty\\n", stderr); });
    }
    return @lines;
}

my (%told, %is_challenge); # by chapter's name the object that tells; by exercise's id

sub check_chapter {
    my ($chapter, @exercises) = @_;
    my ($name, @lines) = ($chapter->{name}, @{$chapter->{lines}});
    my %is_own = map { $_->{id} => 1 } @exercises;
    is linked("$build/tests/$name.o", map { $told{$_} } sort keys %told), '', "$name: its tests compile";
    my @needs = do { local $ENV{TAP_TELL} = 1; Chapter::run_tests("$folder/program") };
    is join(', ', map { $_->{name} } grep { !$_->{ok} } @needs), '', "$name: a solution may print";
    for my $exercise (grep { !$is_challenge{$_->{id}} } @exercises) {
        my ($id, $function) = @$exercise{qw(id function)};
        my %optional = map { $_ => 1 } grep { $is_challenge{$_} } map { @{$_->{empty}} }
          grep { $_->{name} =~ /^\Q$function\E:/ } @needs;
        is join(', ', sort keys %optional), '', "$id: $function can be written without a challenge";
    }
    $_->{empty} = [grep { $is_own{$_} } @{$_->{empty}}] for @needs;

    my @empty = $chapter->emptied(@exercises);
    is scalar @empty, scalar @lines, "$name, empty: no line has moved";
    is build($chapter, '', @empty), '', '... it compiles without a warning';
    my ($status, $said) = command("'$folder/program'");
    like $said, qr/^$name\.c: \w+: exercise \S+ is still empty/m, '... and says where it stopped';
    is linked("$folder/program.o", "$build/tests/$name.o"), '', '... so do its tests';
    my @tests = Chapter::run_tests("$folder/program");
    pop @needs if $needs[-1]{name} =~ /^golden:/; # is said where all pass
    is_deeply [map { $_->{name} } @tests], [map { $_->{name} } @needs], '... all tests are run';
    my (%needed, @odd);
    for my $k (0 .. $#needs) {
        my ($name, $ok) = @{$tests[$k]}{qw(name ok)};
        my %why = map { $_ => 1 } @{$tests[$k]{empty}}; # two threads may say the same
        my %needs = map { $_ => 1 } @{$needs[$k]{empty}};
        push @odd, $name if $ok ? %needs : keys %why != 1 || grep { !$needs{$_} } keys %why;
        push @{$needed{$_}}, $name for keys %needs;
    }
    is join(', ', @odd), '', '... and fail exactly for what is empty';
    for (@exercises) {
        my ($id, $function) = @$_{qw(id function)};
        my @own = grep { /^\Q$function\E:/ } map { $_->{name} } @tests;
        my %needs = map { $_ => 1 } @{$needed{$id}};
        cmp_ok scalar @own, '>', 0, "$id: $function has tests of its own";
        is join(', ', grep { !$needs{$_} } @own), '', '... which all need it';
        cmp_ok scalar keys %needs, '<', @tests, '... and others do not' if @own < @tests;
    }
}

my @chapters = grep { @{$_->{exercises}} } map { Chapter->load($_) } sort glob 'chapters/*.c';
for my $chapter (@chapters) {
    my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
    $told{$chapter->{name}} = "$folder/$chapter->{name}.o";
    is compile($chapter, $told{$chapter->{name}}, telling($chapter, @exercises)), '', "$chapter->{name} says what is called";
    $is_challenge{$_->{id}} = $_->{about} =~ /challenge/ for @exercises;
}
check_chapter($_, grep { $_->{function} } @{$_->{exercises}}) for @chapters;

# Whoever leaves the challenges out sees all of the page.
for my $chapter (@chapters) {
    my @left = grep { $_->{function} && $is_challenge{$_->{id}} } @{$chapter->{exercises}} or next;
    build($chapter, '', $chapter->emptied(@left));
    is +(command("'$folder/program'"))[0], 0, "$chapter->{name}: its program runs without the challenges";
}

# ---- What is said of a solution is empty with it; what is done by hand, is not.

{
    my @text = ('/*', '**Exercise 1.1** (challenge, 1 point): `f`.', '', '**Exercise 1.10** (by hand): g.', '',
        '::: {.solution exercise="1.1"}', '= Add.', '', '::: aside', '= Both.', ':::', '*/', 'int f(void)', '{',
        '= one', '= two', '}', '/*', '= Done.', ':::', '', '::: {.solution exercise="1.10"}', 'On paper.', ':::', '*/');
    my $path = Chapter::save("$folder/01_a.c", @text);
    my $small = Chapter->load($path);
    is_deeply [$small->emptied($small->{exercises}[0])],
      [map { /^= one/ ? '    TODO("1.1");' : /^=|aside/ ? '' : $_ } @text[0 .. 9], '', @text[11 .. $#text]],
      'what is said of a solution is empty with it; one by hand is there';
}

# ---- An edition. What has been built is there already, so that make compiles
# what is emptied and nothing else.

my $chapter = $chapters[0];
my ($path, $name, $number) = @$chapter{qw(path name number)};
my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
my $work = "$folder/work";
my ($status, $said) = command("$make -s student CHAPTER=$number DIR='$work'");
is $status, 0, 'an edition is made' or diag $said;
is_deeply [$said =~ /^  (\S+)/mg], [map { $_->{id} } @exercises], '... which says what is to be written';
is_deeply(Chapter->load("$work/$path")->{lines}, [$chapter->emptied(@exercises)], '... and is empty there');
command("mkdir '$work/build' && cp -Rp '$build'/flags '$build'/code '$build'/obj '$build'/chapters '$build'/tests "
    . "'$build'/lib*.a '$work/build'");
($status, $said) = command("$make -C '$work' build/chapters/$name build/tests/$name");
is $status, 0, '... it builds' or diag $said;
is join(' ', $said =~ m{(\S+\.c)\b}g), "build/code/$name.c tools/start.c", '... from this chapter alone';
unlike $said, qr/warning/, '... without a warning';
($status, $said) = command("$make -s -C '$work' test-$number");
isnt $status, 0, "... make test-$number fails";
is_deeply [$said =~ /^ +(\S+) +\w+ +empty/mg], [map { $_->{id} } @exercises], '... lists what is empty' or diag $said;
unlike $said, qr/^FAILED/m, '... and finds nothing wrong' or diag $said;
Chapter::save("$work/$path", @{$chapter->{lines}});
($status, $said) = command("$make -s -C '$work' test-$number");
is $status, 0, '... until it is filled in' or diag $said;

# What learners ask for, with the true make; tests/learn/watch.t has the rest.

($status, $said) = command("$make -s -C '$work' progress");
is $status, 0, '... make progress says so' or diag $said;
is_deeply [$said =~ /^  (\S+) .* done$/mg], [map { $_->{id} } @exercises], '... of each' or diag $said;
my ($id, $function) = @{$exercises[0]}{qw(id function)};
($status, $said) = command("$make -s -C '$work' solution-$id");
like $said, qr/^\w.*\b$function\(.*^\}$/ms, "... make solution-$id shows how the book does it";
($status, $said) = command("$make -s -C '$work' reset-$id");
is $status, 0, "... make reset-$id empties it again" or diag $said;
($status, $said) = command("$make -s -C '$work' test-$number EXERCISE=$id");
like $said, qr/^  $id +$function +empty$/m, '... and its tests say so';
my @own = $said =~ /^  not ok +$function: (.*)$/mg;
cmp_ok scalar @own, '>', 1, '... each of them, if they are asked for';
($status, $said) = command("HINT=1 $make -s -C '$work' hint-$id");
is $status, 0, "... make hint-$id helps" or diag $said;
like $said, qr/^Hint 1 of \d to $id/, '... with one';

# A challenge may be left out, and is told when it is begun.

my ($challenge) = grep { $is_challenge{$_->{id}} } @exercises;
my ($todo, $begun) = map { $_, s/TODO\(\S+\);/(void)query;/r } qq{    TODO("$challenge->{id}");};
my @left = $chapter->emptied($challenge);
Chapter::save("$work/$path", @left);
my $left = qr/^2 of 2 done; the challenge $challenge->{id} is empty and may be left out\.$/m;
($status, $said) = command("$make -s -C '$work' test-$number");
is $status, 0, 'a challenge that is empty is no error' or diag $said;
like $said, qr/^(\d+) of \1 tests .* pass\.\n$left/m, '... and may be left out';
($status, $said) = command("$make -s -C '$work' progress");
like $said, qr/^\[=+\] 2 of 2 exercises, (\d+) of \1 points$(?s:.*)^the challenge $challenge->{id} is empty/m, '... so all is done';
Chapter::save("$work/$path", map { $_ eq $todo ? $begun : $_ } @left);
($status, $said) = command("$make -s -C '$work' test-$number");
is $status, 2, '... but begun and wrong it is one';
like $said, qr/^FAILED  $challenge->{function}: (?s:.*)^  $challenge->{id} .* wrong in/m, '... which is told' or diag $said;
like +(command("$make -s -C '$work' progress"))[1], qr/ 2 of 3 exercises(?!.*left out)/s, '... and counts';
my ($from, $to) = $chapter->body('dot_scores');
@left[$from + 1 .. $to - 1] = ('    cosine_scores(n, m, d, query, key, scores);', ('') x ($to - $from - 2));
Chapter::save("$work/$path", @left);
($status, $said) = command("$make -s -C '$work' test-$number");
like "$status $said", qr/^2 .*waits for exercise $challenge->{id}$(?s:.*)^1 of 2 done; the challenge/ms, 'nor is another done that calls one that is empty';

# What is broken in a later chapter is not in the way; a missing brace is told by its
# function, and make alone says how far all is.

my ($later) = map { $_->{path} } $chapters[1];
Chapter::save("$work/$path", @{$chapter->{lines}});
Chapter::save("$work/$later", @{$chapters[1]{lines}}, 'this is no C');
($status, $said) = command("$make -s -C '$work' test-$number");
is $status, 0, 'a later chapter that does not compile is not in the way' or diag $said;
Chapter::save("$work/$later", @{$chapters[1]{lines}});
($status, $said) = command("$make -s -C '$work'");
like $said, qr/^\[=+\] .*^  $id .* done$/ms, 'make alone says how far all is';
my ($brace, $close) = $chapter->body($function);
my @torn = @{$chapter->{lines}};
$torn[$brace + 1] = '    for (;;) { /* } */';
$torn[$_] = '' for $brace + 2 .. $close - 1;
Chapter::save("$work/$path", @torn);
($status, $said) = command("$make -s -C '$work' test-$number");
my ($first) = grep { $_->{name} eq $function } $chapter->definitions;
is join("\n", $said =~ /(.*error:.*)/g), "$path:@{[$first->{first} + 1]}:2: error: #error $function: 2 { and 1 }: each { needs its }",
  'a brace that is missing is told by its function';

# A reset takes nothing with it that stands behind the function: then the chapter comes
# back as it was.
($status, $said) = command("$make -s -C '$work' reset-$id");
is "$status $said", "0 $path had lost its form: all its exercises are empty again. Your text is in $path.2\n",
  'a chapter with a brace too few comes back';
is_deeply(Chapter->load("$work/$path")->{lines}, [$chapter->emptied(@exercises)], '... empty');
is_deeply([do { open my $kept, '<:encoding(UTF-8)', "$work/$path.2" or die; map { s/\n//r } <$kept> }], \@torn, '... and the text is there');

# A chapter that is gone.

unlink "$work/$path";
($status, $said) = command("$make -s -C '$work' test-$number");
is $status, 2, 'a chapter that is gone';
like $said, qr/ \Q$path\E is gone: make reset-$id lays it there again/, '... is told';
($status, $said) = command("$make -s -C '$work' reset-$id");
is "$status $said", "0 $path was gone: it is there again, and its exercises are empty\n", '... and comes back';
is_deeply(Chapter->load("$work/$path")->{lines}, [$chapter->emptied(@exercises)], '... empty');

# ---- Several chapters, all, single exercises; and from a book that is only for
# reading.

sub emptied_in {
    my ($words) = @_;
    my $to = "$folder/some";
    system 'rm', '-rf', $to;
    ($status, $said) = command("tools/learn/student '$words' '$to'");
    is $status, 0, "an edition of $words" or diag $said;
    my @empty = sort { $a <=> $b } map { /TODO\("(\S+)"\)/ } map { @{Chapter->load($_)->{lines}} } glob "$to/chapters/*.c";
    open my $list, '<', "$to/.book/exercises" or die "$to: $!\n";
    chomp(my @kept = <$list>);
    my $named = join ' ', '', split(/[ ,]/, $words), '';
    is_deeply [map { s/ challenge$//r } grep {/ /} @kept], [grep { $is_challenge{$_} && $named !~ / \Q$_\E / } @empty],
      '... in which challenges may be left out, unless they are named';
    @kept = map { s/ .*//r } @kept;
    is "@kept", "@empty", '... which knows what is to be written';
    is_deeply [$said =~ /^  (\S+)/mg], \@kept, '... and says it';
    my @yours = $said =~ m{: (chapters/\S+\.c) has}g;
    is_deeply \@yours, [map { s{.*/\.book/}{chapters/}r } glob "$to/.book/*.c"], '... and which files are to be edited';
    is join('', map { `cmp '$to/.book/$_' 'chapters/$_' 2>&1` } map { s{.*/}{}r } @yours), '', '... and what the book has there';
    return \@empty;
}

my %ids = map { $_->{number} => [map { $_->{id} } grep { $_->{function} } @{$_->{exercises}}] } @chapters;
is_deeply emptied_in('03 02'), [map { @{$ids{$_}} } '02', '03'], '... these, in the order of the book';
is_deeply emptied_in('all'), [map { @{$ids{$_}} } sort keys %ids], '... all of them';
is_deeply emptied_in('3.3,2.3'), ['2.3', '3.3'], '... these alone';
ok !-e "$folder/some/tests/learn", '... without the mistakes that others make';

($status, $said) = command("cd '$folder' && some/tools/learn/student 03 another");
is "$status $said", "2 tools/learn/student: this is a student copy: copies are made in the folder of the book\n",
  'a copy of a copy would have its holes';
command("mv '$folder/some' '$folder/server' && rm -r '$folder/server/.book' && chmod -R a-w '$folder/server'");
($status, $said) = command("cd '$folder' && server/tools/learn/student 03 some");
is $status, 0, 'an edition of a book that is only for reading' or diag $said;
is `find '$folder/some' ! -perm -u+w`, '', '... can be written to, everywhere';
mkdir "$folder/bin";
chmod 0755, Chapter::save("$folder/bin/tar", '#!/bin/sh', 'exit 1');
($status, $said) = command("PATH='$folder/bin':\$PATH tools/learn/student 03 '$folder/other'");
is "$status $said", "2 tools/learn/student: $folder/other: the book cannot be copied there\n", 'what cannot be copied is told';
is join(' ', glob "$folder/other*"), '', '... and nothing is left behind';
command("chmod -R u+w '$folder/server'");

# ---- What is shown of tests that fail: of those that have no end, the first
# and no other; words as they are in quotes; the last of what is printed.

my @two = map { $_->{function} } @exercises[0, 2];
my $program = Chapter::save("$folder/program", '#!/bin/sh', "cat <<'END'", 'TAP version 13',
    "not ok 1 - $two[0]: one", '  ---', '  wrong: "no end in 10 s"', '  ...',
    "not ok 2 - $two[0]: two", '  ---', '  wrong: "not run: a test before it has no end"', '  ...',
    "not ok 3 - $two[1]: three", '  ---', '  due: "2"', '  given: "x (2, 1) =\\x0a [[1]\\x0a  [2]]"', '  gave: "\\"\\\\x0a"', '  wrong: "off"',
    '  printed: "1\\x0a2\\x0a3\\x0a4\\x0a5\\x0a\\x0a"', '  ...', '1..3', 'END', 'exit 1');
chmod 0755, $program;
($status, $said) = command("tools/learn/progress '$path' '$program'");
is $said =~ s/^  \d.*//msr, <<"END", 'what is wrong is shown' or diag $said;
FAILED  $two[0]: one
        wrong    no end in 10 s
FAILED  $two[1]: three
        wrong    off
        given    x (2, 1) =
                  [[1]
                   [2]]
        gave     "\\x0a
        due      2
        printed  ...
                 3
                 4
                 5
END
like $said, qr/$two[0] +wrong in 1 of 2 tests, and 1 not run$/m, 'tests that were not run are not called wrong';
isnt $status, 0, 'all in all, a failure';

# dot_scores calls dot, which is wrong; cosine_scores does not, though it says so.

my ($scores) = $chapter->body('cosine_scores');
my @says = @{$chapter->{lines}};
$says[$scores] .= ' /* not dot() */ // nor dot()';
my $copy = Chapter::save("$folder/$name.c", @says);
Chapter::save($program, '#!/bin/sh', "cat <<'END'", 'TAP version 13', 'not ok 1 - dot: one',
    'not ok 2 - dot_scores: two', (map { "not ok $_ - cosine_scores: $_" } 3 .. 6), 'not ok 7 - length: one', '1..7', 'END', 'exit 1');
chmod 0755, $program;
($status, $said) = command("tools/learn/progress '$copy' '$program'");
is $said, <<"END", 'an exercise waits for one that it calls';
FAILED  dot: one
FAILED  cosine_scores: 3
FAILED  cosine_scores: 4
and 2 more tests of these exercises, and 1 more test of other functions: $program prints all.
  1.1   dot                wrong in 1 of 1 tests
  1.2   dot_scores         waits for exercise 1.1
  1.3   cosine_scores      wrong in 4 of 4 tests
0 of 7 tests of chapter 01 pass; until all do, make calls it an error.
END

# ---- Who solves an exercise may refuse in words of his own, and print.

my %is_exercise = map { $_->{function} => 1 } map { grep { $_->{function} } @{$_->{exercises}} } @chapters;
for my $test (glob 'tests/*_*.c') {
    open my $file, '<', $test or die "$test: $!\n";
    my $code = do { local $/; <$file> };
    is join(', ', grep { $is_exercise{$_} } $code =~ /\bREFUSES\((?!NULL\b)[^;]*?,\s*(\w+)\(/g), '',
      "$test: the words of no exercise's refusal are held";
}
($chapter) = grep { $_->{name} eq '02_softmax' } @chapters;
my ($open) = $chapter->body('softmax');
my @lines = @{$chapter->{lines}};
$lines[$open] .= ' printf("debug"); fprintf(stderr, "%d", n); if (n < 1) REFUSE("my own words");';
is join(', ', map { $_->{name} } grep { !$_->{ok} } run_tests($chapter, @lines)), '', 'a solution that prints is right';

# ---- What it refuses.

for (['', "'$folder/x'", qr/a chapter and a folder are needed/],
     ['02', "''", qr/a chapter and a folder are needed/],
     ['99', "'$folder/x'", qr/there is no chapter '99'/],
     ['02 99', "'$folder/x'", qr/there is no chapter '99'/],
     ['2.9', "'$folder/x'", qr/there is no exercise 2\.9 with a function to write: the chapter has 2\.1, /],
     ['02', "'$folder'", qr/\Q$folder\E exists: a new folder is needed/],
     ['A', "'$folder/x'", qr/chapter A has no exercises to fill in/]) {
    my ($number, $rest, $message) = @$_;
    ($status, $said) = command("tools/learn/student '$number' $rest");
    is $status, 2, 'refused with status 2';
    like $said, $message, '... with what would be right';
    ok !-e "$folder/x", '... and nothing is left behind';
}

done_testing;
