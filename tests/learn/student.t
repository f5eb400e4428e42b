#!/usr/bin/env perl
# A student's copy: what is emptied compiles without a warning, and its tests fail exactly
# for it; a copy is tried from its making to its end, as a learner uses it.
#
# Which tests need an exercise is asked of the solutions, all of which say when they are
# called, and go on. In the copy just these tests fail, each for an exercise that it needs.

use strict;
use warnings;
use File::Temp qw(tempdir);
use Chapter;
use Exercises;
use Test::More;

my $build = $ENV{BUILD} // 'build';
my $make  = $ENV{MAKE} // 'make';
delete @ENV{qw(BUILD MAKEFLAGS MAKELEVEL MFLAGS RUN_UNDER FIGURES)};
my $folder = tempdir(CLEANUP => 1);
my ($compile, $link) = Chapter::compiler();

# What a command says, after its status.
sub said {
    my $text = `$_[0] 2>&1`;
    return ($? >> 8) . ' ' . $text =~ s/\n\z//r;
}

# Compiles lines as this chapter into an object. Returns what the compiler says.
sub compile {
    my ($chapter, $object, @lines) = @_;
    my $source = Chapter::save("$folder/$chapter->{name}.c", @lines);
    return said("$compile -O0 -Wno-unused-parameter -Dmain=main_$chapter->{number} -c '$source' -o '$object'");
}

# Links objects into a program. Returns what the linker says.
sub linked {
    my @objects = map {"'$_'"} @_;
    return said("$compile @objects $build/libattention.a $link -o '$folder/program'");
}

# The chapter's program, of these lines. Returns what compiler and linker say.
sub build {
    my ($chapter, @lines) = @_;
    return compile($chapter, "$folder/program.o", @lines) . linked("$build/start/$chapter->{name}.o", "$folder/program.o");
}

# The chapter's lines, with exercises that say that they are called, go on, and refuse in
# other words.
sub telling {
    my ($chapter, @exercises) = @_;
    my @lines = @{$chapter->{lines}};
    for (@exercises) {
        my ($open, $close) = $chapter->body($_->{function});
        s{REFUSE\("\K([^"]*)}{$1 =~ s/%[^a-z%]*[lz]*[a-z](*SKIP)(*FAIL)|[A-Za-z]/x/gr}e for @lines[$open .. $close];
        $lines[$open] .= qq( { static int once; if (!once++) fputs("exercise $_->{id} is still empty\\n", stderr); });
    }
    return @lines;
}

my (%told, %is_challenge); # by chapter's name the object that tells; by exercise's id

sub check_chapter {
    my ($chapter, @exercises) = @_;
    my $name = $chapter->{name};
    is linked("$build/tests/$name.o", values %told), '0 ', "$name: its tests compile";
    my @needs = do { local $ENV{TAP_TELL} = 1; Chapter::run_tests("$folder/program") };
    is join(', ', map { $_->{name} } grep { !$_->{ok} } @needs), '', "$name: a solution may print, and refuse in words of its own";

    my @empty = $chapter->emptied(@exercises);
    is scalar @empty, scalar @{$chapter->{lines}}, "$name, empty: no line has moved";
    is build($chapter, @empty), '0 0 ', '... it compiles without a warning';
    like said("'$folder/program'"), qr/^(?:2 )?$name\.c: \w+: exercise \S+ is still empty/m, '... and says where it stopped';
    is linked("$folder/program.o", "$build/tests/$name.o"), '0 ', '... so do its tests';
    my @tests = Chapter::run_tests("$folder/program");
    pop @needs if $needs[-1]{name} =~ /^golden:/; # is said where all pass
    is join("\n", map { $_->{name} } @tests), join("\n", map { $_->{name} } @needs), '... all tests are run';
    my (%is_own, @odd);
    $is_own{$_->{id}} = 1 for @exercises;
    for my $k (0 .. $#needs) {
        my %needs = map { $_ => 1 } grep { $is_own{$_} } @{$needs[$k]{empty}};
        my %why = map { $_ => 1 } @{$tests[$k]{empty}}; # two threads may say the same
        push @odd, $tests[$k]{name} if $tests[$k]{ok} ? %needs : keys %why != 1 || grep { !$needs{$_} } keys %why;
    }
    is join(', ', @odd), '', '... and fail exactly for what is empty';
    for (@exercises) {
        my ($id, $function) = @$_{qw(id function)};
        my @own  = grep { $_->{name} =~ /^\Q$function\E:/ } @needs;
        my @need = grep { " @{$_->{empty}} " =~ / \Q$id\E / } @needs;
        cmp_ok scalar @own, '>', 0, "$id: $function has tests of its own";
        is join(', ', map { $_->{name} } grep { " @{$_->{empty}} " !~ / \Q$id\E / } @own), '', '... which all need it';
        is join(', ', grep { $is_challenge{$_} } map { @{$_->{empty}} } @own), '', '... and no challenge' if !$is_challenge{$id};
        cmp_ok scalar @need, '<', @needs, '... and others do not' if @own < @needs;
    }
}

my @chapters = grep { @{$_->{exercises}} } map { Chapter->load($_) } sort glob 'chapters/*.c';
for my $chapter (@chapters) {
    my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
    $told{$chapter->{name}} = "$folder/$chapter->{name}.o";
    is compile($chapter, $told{$chapter->{name}}, telling($chapter, @exercises)), '0 ', "$chapter->{name} says what is called";
    $is_challenge{$_->{id}} = $_->{about} =~ /challenge/ for @exercises;
}
check_chapter($_, grep { $_->{function} } @{$_->{exercises}}) for @chapters;

# Whoever leaves the challenges out sees all of the page.
for my $chapter (@chapters) {
    my @left = grep { $_->{function} && $is_challenge{$_->{id}} } @{$chapter->{exercises}} or next;
    build($chapter, $chapter->emptied(@left));
    like said("'$folder/program'"), qr/^0 /, "$chapter->{name}: its program runs without the challenges";
}

# ---- A copy of chapter 1, in an odd folder. What has been built is there already, so that
# make compiles what is emptied and nothing else.

my $chapter = $chapters[0];
my $path    = $chapter->{path};
my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
my $work = "$folder/it's a copy";
like said(qq{$make -s student CHAPTER=01 DIR="$work"}), qr/^0 (?s:.*)^  1\.1 +dot +2 points\n  1\.2 +dot_scores +3 points\n  1\.3 .*$/m,
  'a copy is made, which says what is to be written';
is_deeply(Chapter->load("$work/$path")->{lines}, [$chapter->emptied(@exercises)], '... and is empty there');
said(qq{mkdir "$work/build" && cp -Rp $build/settings.mk $build/obj $build/start $build/chapters $build/tests $build/lib*.a "$work/build"});

sub in_copy { return said(qq{@{[$_[1] // '']} $make -C "$work" -s $_[0]}) }

# The chapter with other bodies for functions, each on one line so that no other moves.
sub written {
    my (%body) = @_;
    my @lines = @{$chapter->{lines}};
    for my $function (keys %body) {
        my ($open, $close) = $chapter->body($function);
        @lines[$open + 1 .. $close - 1] = ($body{$function}, ('') x ($close - $open - 2));
    }
    return Chapter::save("$work/$path", @lines);
}
my %todo = map { $_->{function} => qq{    TODO("$_->{id}");} } @exercises;

like in_copy('test-01'), qr/^2   1\.1 +dot +empty\n  1\.2 +dot_scores +empty\n  1\.3 .*^Next: 1\.1 dot, in \Q$path\E:\d+; make hint-1\.1 has a hint$/ms,
  'all is empty, nothing wrong, and it says where to begin';
like in_copy(''), qr/^0 \[-+\] 0 of 2 exercises, 0 of 5 points\n.*^  1\.1 +dot +2 points  empty\n.*^the challenge 1\.3 is empty and may be left out$/ms,
  'make alone says how far all is';
is in_copy('hint-1.1') =~ s/:.*//sr, $_, $_ for '0 Hint 1 of 2 for 1.1 dot', '0 Hint 2 of 2 for 1.1 dot', '0 Hint 2 of 2 for 1.1 dot, the last one';
like in_copy('hint-1.1', 'HINT=1'), qr/^0 Hint 1 of 2 for 1\.1 dot:\nA sum needs/, 'a hint that is asked for';
like in_copy('hint-1.2'), qr/^0 Hint 1 of \d for 1\.2/, 'each exercise has its own';
like in_copy('solution-1.1'), qr/exercise 1\.1 is not solved yet \(empty\): make hint-1\.1 helps, or else make solution-1\.1 SURE=1/,
  'no solution before it is solved';
like in_copy('solution-1.1', 'SURE=1'), qr/^float dot\(.*^\}$/ms, '... unless one is sure';
like in_copy('solution-1.4'), qr/^0 The answer to 1\.4:\n\n\w/, 'what is found by hand has an answer';

written(dot => 'float sum = 0; for (int k = 0; k < n; k++) sum += a[k] * a[k]; return sum;', map { $_ => $todo{$_} } qw(dot_scores cosine_scores));
my $said = in_copy('test-01', 'EXERCISE=1.1');
like $said, qr/^2 FAILED  dot: .*\n +wrong +dot: \S+ where \S+ is due\n +perhaps  the first list is multiplied by itself\n +given +a \(\d\) = .*^ +hint +make hint-1\.1$/ms,
  'a wrong answer: what, of what, its name, and where a hint is' or diag $said;
like $said, qr/^  ok +dot: .*^  not ok dot: /ms, '... and each test of what is asked for';
# On a busy machine the second of the processor takes more than six of the clock.
for (['for (volatile int i = 0;; i++) { }', qr/wrong    no end in [16] s.*^  1\.2 +dot_scores +wrong in 1 of 7 tests, and 6 not run$/ms, 'an endless loop'],
     ['*(volatile int *)0 = 1;', qr/wrong    Segmentation fault.*^  1\.2 +dot_scores +wrong in 7 of 7 tests$/ms, 'a crash'],
     ['REFUSE("never");', qr/wrong    refused, with status 2.*^  1\.2 +dot_scores +wrong in 7 of 7 tests$/ms, 'a refusal']) {
    my ($body, $says, $what) = @$_;
    written(dot_scores => $body, cosine_scores => $todo{cosine_scores});
    $said = in_copy('test-01', 'TAP_SECONDS=1');
    like $said, $says, "$what is told" or diag $said;
    like $said, qr/^  1\.1 +dot +done$/m, '... and what is right is done';
}
written(dot => 'for (int k = 1; k < 6; k++) printf("%d \\"\\n", k); return 0;', dot_scores => 'for (int i = 0; i < n; i++) scores[i][0] = 7;');
$said = in_copy('test-01', 'EXERCISE=1.2');
like $said, qr/^ +printed  \.\.\.\n +3 "\n +4 "\n +5 "$/m, 'of what is printed, the last lines' or diag $said;
like $said, qr/^ +given    query \(\d, \d\) =\n(?: +\[.*\]\n)+ +key \(\d, \d\) =\n +\[/m, 'of a table, its rows';
written(dot => '(void)a;', dot_scores => 'for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) scores[i][j] = dot(d, query[i], key[j]);');
like in_copy('test-01'), qr/^  1\.2 +dot_scores +waits for exercise 1\.1$/m, 'what calls one that is wrong waits for it';

written(cosine_scores => $todo{cosine_scores});
like in_copy('test-01'), qr/^0 (?s:.*)^(\d+) of \1 tests .* pass\.\n2 of 2 done; the challenge 1\.3 is empty and may be left out\.\nNext: 1\.3 .*, a challenge, which may be left out;/m,
  'a challenge that is empty is no error';
like in_copy('progress'), qr/^0 \[=+\] 2 of 2 exercises, 5 of 5 points$/m, '... and does not count';
like in_copy('solution-1.1'), qr/^0 .*^float dot\(.*^\}$/ms, 'what is solved has its solution';
written(cosine_scores => '(void)query;');
like in_copy('test-01'), qr/^2 FAILED  cosine_scores: (?s:.*)^  1\.3 .* wrong in/m, 'one that is begun and wrong is an error';
like in_copy('progress'), qr/^0 \S+ 2 of 3 exercises(?!.*left out)/s, '... and counts';
written(dot_scores => 'cosine_scores(n, m, d, query, key, scores);', cosine_scores => $todo{cosine_scores});
like in_copy('test-01'), qr/^2 .*waits for exercise 1\.3\n.*^1 of 2 done; the challenge/ms, 'nor is another done that calls one that is empty';
written();
is in_copy('progress') =~ s/(\n.*? )\d points  done$/$1/gmr, "0 [" . '=' x 44 . "] 3 of 3 exercises, 8 of 8 points\n$path"
  . join('', map { sprintf "\n  %-5s %-24s  ", @$_{qw(id function)} } @exercises), 'a copy with the solutions in it has all done';

# What is broken in a later chapter is not in the way; compiler and book speak of the same
# line, and a missing brace is told by its function.
my $later = Chapter::save("$work/$chapters[1]{path}", @{$chapters[1]{lines}}, 'this is no C');
like in_copy('test-01'), qr/^0 /, 'a later chapter that does not compile is not in the way';
Chapter::save($later, @{$chapters[1]{lines}});
my ($open) = $chapter->body('dot');
written(dot => 'return nothing;');
like in_copy('test-01'), qr/^\Q$path\E:@{[$open + 2]}:\d+: error: /m, "an error is at the book's line";
written(dot => 'for (;;) { /* } */');
my $torn = `cat "$work/$path"`;
my $told = qr/^\Q$path\E:$open: dot: 2 \{ and 1 \}: each \{ needs its \}$/m;
like in_copy($_), $told, "make $_: a brace that is missing is told by its function" for qw(test-01 progress);
is in_copy('reset-1.1'), "0 $path was no chapter any more: all its exercises are empty again. Your text is in $path.1", 'such a chapter comes back';
is_deeply(Chapter->load("$work/$path")->{lines}, [$chapter->emptied(@exercises)], '... empty');
is `cat "$work/$path.1"`, $torn, '... and the text is there';
like in_copy('hint-1.1'), qr/^0 Hint 1 of 2/, '... with hints from the first one on';
written(dot_scores => $todo{dot_scores});
my $reset = `cat "$work/$path"`;
written();
is in_copy('reset-1.2'), "0 dot_scores is empty again. Your text is in $path.2", 'a reset of one that is written';
is `cat "$work/$path"`, $reset, '... touches no other';
unlink "$work/$path";
like in_copy('test-01'), qr/^2 \Q$path\E is gone: make reset-1\.1 brings it back/, 'a chapter that is gone is told';
is in_copy('reset-1.1'), "0 $path was gone: it is there again, and its exercises are empty", '... and comes back';

for (['hint 1.9', qr/there is no exercise 1\.9 here: 1\.1, 1\.2, 1\.3 can be written/], ['hint 9.1', qr/no exercise 9\.1 here: 1\.1 to 1\.3 can/],
     ['hint 1.4', qr/1\.4 is done by hand: make solution-1\.4/], ['solve 1.1', qr/use: tools\/learn\/exercise hint\|/]) {
    my ($arguments, $message) = @$_;
    like said(qq{"$work/tools/learn/exercise" $arguments}), qr/^2 tools\/learn\/exercise: [^\n]*$message[^\n]*\z/, "refused: $arguments";
}
like in_copy('hint-1.1', 'HINT=7'), qr/has hints 1 to 2: HINT=7 is none of them/, 'a hint that is not there';
like said('tools/learn/progress'), qr/^2 .*this is no student's copy: make student CHAPTER=01 DIR=work makes one/, 'the book is no copy';

# ---- Copies of several chapters, of all, of single exercises; and of a book that is only
# for reading.

sub emptied_in {
    my ($words) = @_;
    system 'rm', '-rf', "$folder/some";
    $said = said("tools/learn/student '$words' '$folder/some'");
    like $said, qr/^0 /, "a copy of $words";
    my @empty = sort { ($a =~ s/B/99/r) <=> ($b =~ s/B/99/r) } map { /TODO\("(\S+)"\)/ } map { @{Chapter->load($_)->{lines}} } glob "$folder/some/chapters/*.c";
    my @kept = split /\n/, `cat '$folder/some/.book/exercises'`;
    is "@kept", join(' ', map { $is_challenge{$_} && $words !~ /\Q$_/ ? "$_ challenge" : $_ } @empty),
      '... which knows what is to be written, and what may be left out';
    is join(' ', $said =~ /^  (\S+)/mg), "@empty", '... and says it';
    return "@empty";
}
my %ids = map { $_->{number} => [map { $_->{id} } grep { $_->{function} } @{$_->{exercises}}] } @chapters;
is emptied_in('03 02'), "@{$ids{'02'}} @{$ids{'03'}}", '... these, in the order of the book';
is emptied_in('all'), join(' ', map { @{$ids{$_}} } sort keys %ids), '... all of them';
is emptied_in('3.2,2.3'), '2.3 3.2', '... these alone';
ok !-e "$folder/some/tests/learn", '... without the mistakes that others make';

# What the book says of each exercise comes without the marks of Markdown and of TeX.
my %parts = map { my $e = $_; ("$e->{id} hints" => [map { @$_ } Exercises::below($e, 'hint')], "$e->{id} solution" => [Exercises::solution($e)]) }
  map { my $chapter = $_; map { {%$_, chapter => $chapter} } grep { $_->{function} } @{$chapter->{exercises}} } @chapters;
is join(', ', grep { "@{$parts{$_}}" !~ /\w/ } sort keys %parts), '', 'each exercise has hints and a solution';
is join("\n", map { my $part = $_; map {"$part: $_"} grep { !/^ {4}|[;{}]$/ && m{\]\(#|^:::|^```|\*\*|\{[.#]|\[@|\\[a-z]{2,}|\$\S.*\$} } @{$parts{$part}} }
      sort keys %parts), '', '... told as plain text';

is said("cd '$folder' && some/tools/learn/student 03 another"), '2 tools/learn/student: this is a student copy: '
  . 'copies are made in the folder of the book', 'a copy of a copy would have its holes';
said("cd '$folder' && mv some server && rm -r server/.book && chmod -R a-w server");
like said("cd '$folder' && server/tools/learn/student 03 some"), qr/^0 /, 'a copy of a book that is only for reading';
is said("find '$folder/some' ! -perm -u+w; chmod -R u+w '$folder/server'"), '0 ', '... can be written to, everywhere';
mkdir "$folder/bin";
chmod 0755, Chapter::save("$folder/bin/tar", '#!/bin/sh', 'exit 1');
is said("PATH='$folder/bin':\$PATH tools/learn/student 03 '$folder/other'"),
  "2 tools/learn/student: $folder/other: the book cannot be copied there", 'what cannot be copied is told';
is join(' ', glob "$folder/other*"), '', '... and nothing is left behind';

for (['', "'$folder/x'", qr/a chapter and a folder are needed/],
     ['02 99', "'$folder/x'", qr/there is no chapter 99 with exercises: one of 1 to 25 or B is needed/],
     ['2.9', "'$folder/x'", qr/exercise 2\.9 is not in chapter 2: 2\.1, 2\.2 or 2\.3 is needed/],
     ['02', "'$folder'", qr/\Q$folder\E exists: a new folder is needed/],
     ['A', "'$folder/x'", qr/there is no chapter A with exercises/]) {
    my ($number, $rest, $message) = @$_;
    like said("tools/learn/student '$number' $rest"), qr/^2 .*$message/, "refused: '$number' $rest";
    ok !-e "$folder/x", '... and nothing is left behind';
}

done_testing;
