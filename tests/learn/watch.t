#!/usr/bin/env perl
# What a learner is told in a student edition: hints, what to read again, how the
# book does it, how far all is; and make watch, driven through pipes and, where
# there is script, on a terminal. What make would print is laid out for it here;
# tests/learn/student.t has the true one.

use strict;
use warnings;
use utf8;
use Cwd qw(getcwd);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use IO::Select;
use IPC::Open2;
use Chapter;
use Exercises;
use Test::More;
use Wait qw(wait_until);

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
delete @ENV{qw(BUILD MAKEFLAGS MAKELEVEL MFLAGS RUN_UNDER FIGURES HINT SURE LINES COLUMNS)};
my $folder = tempdir(CLEANUP => 1);
my $root   = getcwd;
my $work   = "$folder/work";
is system("tools/learn/student all '$work' >/dev/null"), 0, 'an edition of the whole book is made';
chdir $work or die "$work: $!\n";

sub command {
    my ($text) = @_;
    my $said = `$text 2>&1`;
    utf8::decode($said);
    return ($? >> 8, $said);
}

# ---- What the book says of each exercise.

my $book = Exercises->load;
my @ids = map { $_->{id} } grep { $_->{function} } map { @{Chapter->load($_)->{exercises}} } sort glob '.book/*.c';
is_deeply [map { $_->{id} } $book->all], \@ids, 'all exercises are open, in the order of the book';
my (@marked, @shown, @short, @elsewhere);
for my $e ($book->all) {
    my ($id, $function) = @$e{qw(id function)};
    my $section = Exercises::section($e);
    my @hints = Exercises::hints($e);
    my %text = (section => $section->{text}, asked => [Exercises::asked($e)], solution => [Exercises::solution($e)],
        map { ("hint $_" => $hints[$_]) } 0 .. $#hints);
    for my $part (sort keys %text) {
        my @prose = grep { !/^ {4}|[;{}]$/ } @{$text{$part}};
        push @short,  "$id: $part" if !grep { /\w/ } @{$text{$part}};
        push @marked, map {"$id $part: $_"} grep { m{\]\(#|^:::|^```|\*\*|\{[.#]|^/\*$|^\*/$|\[@|\\[a-z]{2,}|\$\S.*\$} } @prose;
    }
    push @short, "$id: hints"   if !@hints || grep { !"@$_" } @hints;
    push @short, "$id: heading" if $section->{title} !~ /\w/;
    # What is to be written, here or next to it, is not to be read there.
    my @lines = @{$e->{chapter}{lines}};
    for my $other (grep { $_->{number} eq $e->{number} } $book->all) {
        my ($open, $close) = $e->{chapter}->body($other->{function});
        my $body = join "\n", grep { /\S/ } @lines[$open + 1 .. $close - 1];
        push @shown, "$id: $other->{id}" if index(join("\n", grep { /\S/ } @{$section->{text}}), $body) >= 0;
        push @short, "$id: solution" if $other == $e && index(join("\n", grep { /\S/ } @{$text{solution}}), $body) < 0;
    }
    my ($path, $line) = split /:/, Exercises::place($e);
    push @elsewhere, "$id: $path:$line" if ((Exercises::lines_of($path))[$line - 1]) ne qq(    TODO("$id"););
    ($path, $line) = Exercises::read_again($e) =~ /, (\S+):(\d+)$/;
    push @elsewhere, "$id: $path:$line" if ((Exercises::lines_of($path))[$line - 1]) !~ /^# |^## \Q$section->{title}\E/;
}
is join("\n", @marked),    '', '... told without the marks of Markdown';
is join("\n", @shown),     '', '... without what is to be written';
is join("\n", @short),     '', '... each with hints, a section and how the book does it';
is join("\n", @elsewhere), '', '... and leads to where it stands';
is_deeply [Plain::plain('## A [trap]{.cited} {#a}', '', '::: hint', 'See [](#softmax), [there](#x) and **this** [@a].',
    '![What.', 'More](a.svg){#f}', ':::', '$$\\underset{n \\times d}{Q} =', '\\frac{K^\\top}{\\sqrt{d_k}}$$ costs $5, not $6')],
  ['A trap', '', 'See chapter 2, "Softmax: shares of a whole", there and this.', '(Figure: What.', 'More)', '',
    'Q[n × d] = (K^T) / sqrt(d_k) costs $5, not $6'], 'Markdown becomes plain, and so do formulas';

# ---- What make has printed, taken apart.

my $failed = <<'END';
FAILED  dot: one
        gave     1
        printed  2.1   softmax   done
FAILED  dot: two
  ok     dot: three
  not ok dot: one
  1.1   dot                wrong in 2 of 3 tests
  1.2   dot_scores         waits for exercise 1.1
3 of 5 tests of chapter 01 pass.
make: *** [Makefile:2: test-01] Error 1
END
my $told = Exercises::told($failed);
is_deeply $told, {compiles => 1, faults => [], tests => [['ok', 'dot: three'], ['not ok', 'dot: one']],
    states => {'1.1' => 'wrong in 2 of 3 tests', '1.2' => 'waits for exercise 1.1'},
    failed => [['FAILED  dot: one', '        gave     1', '        printed  2.1   softmax   done'], ['FAILED  dot: two']]},
  'what progress says is taken apart';
my $broken = <<'END';
chapters/01_a.c: In function 'dot':
chapters/01_a.c:9:7: warning: unused variable 's'
    9 |     int s
chapters/01_a.c:97:13: error: expected ';'
   97 |     return s
      |             ^
chapters/01_a.c:90:1: note: here
   90 | {
make: *** [Makefile:135: build/obj/01_a.o] Error 1
END
$told = Exercises::told($broken);
is_deeply $told->{faults}, [["chapters/01_a.c:97: expected ';'", '   97 |     return s', '      |             ^']],
  'of the compiler, its errors, at their place';
ok !$told->{compiles}, '... where it does not compile';
$told = Exercises::told($broken =~ s/.*(?=chapters\S+ error)//msr =~ s/error/warning/r);
is scalar @{$told->{faults}}, 1, '... or what it warns of';
ok $told->{compiles}, '... where it does';
is_deeply(Exercises::told("chapters/01_a.c:5: prose is never closed\n")->{faults},
  [['chapters/01_a.c:5: prose is never closed']], 'and what is wrong with the form of a chapter');
is_deeply(Exercises::told("ld: a.o: undefined reference to `f'\n")->{faults}, [["linking: undefined reference to `f'"]],
  'and what cannot be linked');

# ---- One thing at a time. The make that is laid out prints what the file of a
# chapter's tests says, counts how often it is called, and waits, if it is told to.

my $make = Chapter::save("$folder/make", '#!/bin/sh', "cd '$folder'", '[ -e endless ] && end=no', 'echo "$EXERCISE $*" >>asked',
    'if [ "$end" ]; then trap "" TERM; sleep 600 & echo $! >>began; echo $$ >>began; wait; sleep 600; fi',
    'for a in $*; do cat told.$a 2>/dev/null; done; exit 1');
chmod 0755, $make;
$ENV{MAKE} = $make;

sub lay_out {
    my ($number, $text) = @_;
    Chapter::save("$folder/told.test-$number", split /\n/, $text);
}

sub write_in {
    my ($id, @body) = @_;
    my $e = $book->find($id);
    Chapter::save($e->{path}, map { /TODO\("$id"\)/ ? @body : $_ } Exercises::lines_of($e->{path}));
}

sub states { return join '', map { "  $_->[0]   f   $_->[1]\n" } @_ }

my @empty = (['2.1', 'empty'], ['2.2', 'empty'], ['2.3', 'empty']);
lay_out('02', states(@empty));
my ($status, $said) = command('tools/learn/watch progress');
is $status, 0, 'progress is told';
like $said, qr/^\[-+\] 0 of (\d+) exercises, 0 of \d+ points\nchapters\/01_\S+\n  1\.1 +dot +2 points  empty\n/, '... of all';
my @extra = grep { $_->{about} =~ /challenge/ } $book->all;
is $said =~ /of (\d+) exercises/ && $1, @ids - @extra, '... of every one that is no challenge';
like $said, qr/^@{[scalar @extra]} challenges are empty and may be left out$/m, '... which may be left out';
my $points = ($said =~ /of (\d+) points/)[0];
my ($first, $second, $third) = map { (command('tools/learn/watch hint 2.1'))[1] } 1 .. 3;
like $first,  qr/^Hint 1 of 2 to 2\.1 softmax:\nThree passes/, 'a hint, the first one';
like $second, qr/^Hint 2 of 2 to 2\.1 softmax:\nThe exponentials/, '... then the next, kept from one call to another';
like $third,  qr/^Hint 2 of 2 to 2\.1 softmax, the last one:\nThe exponentials/, '... until there is none';
is((command('HINT=1 tools/learn/watch hint 2.1'))[1], $first, '... or the one that is wanted');
like((command('tools/learn/watch hint 2.2'))[1], qr/^Hint 1 of 2 to 2\.2/, '... for each exercise by itself');
($status, $said) = command('tools/learn/watch solution 2.1');
is $status, 2, 'no solution before it is solved';
is $said, "tools/learn/watch: exercise 2.1 is not solved yet (empty): make hint-2.1 helps, or else make solution-2.1 SURE=1\n", '... and nothing of it';

write_in('2.1', '    my_own();');
my $mine = join "\n", Exercises::lines_of('chapters/02_softmax.c');
lay_out('02', states(['2.1', 'done'], @empty[1, 2]));
($status, $said) = command('tools/learn/watch solution 2.1');
is $status, 0, 'the solution of one that is solved';
like $said, qr/^void softmax\(.*scores\[j\] > largest.*\n\}$/ms, '... is the book\'s';
($status, $said) = command('tools/learn/watch progress');
like $said, qr/^\[=-+\] 1 of \d+ exercises, 3 of $points points/, 'the bar grows by its points';
like $said, qr/2\.1 +softmax +3 points  done$/m, '... and the state says it';
like((command('tools/learn/watch hint 2.1'))[1], qr/the last one/, 'hints that were seen are not forgotten');
Chapter::save('chapters/02_softmax.c', split(/\n/, $mine), '// more');
is(Exercises->load->is_fresh($book->find('2.1')), '', 'after a change nothing is known for sure');
Chapter::save('chapters/02_softmax.c', split /\n/, $mine);

# attend_one, of chapter 3, calls what is not done.

write_in('3.3', '    weighted_sum(m, d_v, weights, value, context); /* not project_qkv(1) */');
lay_out('03', states(['3.1', 'empty'], ['3.3', 'wrong in 3 of 4 tests'], ['3.4', 'empty']));
like((command('tools/learn/watch progress'))[1], qr/3\.3 .* waits for exercise 2\.2$/m, 'one that is wrong waits for one that it calls');
write_in('2.2', '    second();');
lay_out('02', states(['2.1', 'done'], ['2.2', 'done'], $empty[2]));
like((command('tools/learn/watch progress'))[1], qr/3\.3 .* wrong in 3 of 4 tests$/m, '... until that is done');
Chapter::save("chapters/02_softmax.c", split /\n/, $mine);
lay_out('02', states(['2.1', 'done'], @empty[1, 2]));

write_in('2.2', '    second();');
my $both = join "\n", Exercises::lines_of('chapters/02_softmax.c');
($status, $said) = command('tools/learn/watch reset 2.1 </dev/null');
is "$status $said", "0 softmax is empty again. Your text is in chapters/02_softmax.c.1\n", 'a reset says where the text is kept';
is join("\n", Exercises::lines_of('chapters/02_softmax.c.1')), $both, '... and loses nothing';
is join("\n", Exercises::lines_of('chapters/02_softmax.c')), $both =~ s/    my_own\(\);/    TODO("2.1");/r,
  '... nor what else is written';
($status, $said) = command('tools/learn/watch reset 2.2');
like $said, qr/is in chapters\/02_softmax\.c\.2$/, '... the second time neither';
unlink glob 'chapters/*.c.*';

for (['hint 2.9', qr/there is no exercise 2\.9 here: 2\.1, 2\.2, 2\.3 can/], ['solve 2.1', qr/'solve 2\.1' is asked for: progress, or hint/],
     ['hint', qr/'hint' is asked for/], ['progress 2.1', qr/'progress 2\.1' is asked for/],
     ['</dev/null', qr/a terminal is needed; without one there are make progress/]) {
    my ($arguments, $message) = @$_;
    ($status, $said) = command("tools/learn/watch $arguments");
    is $status, 2, "refused: $arguments";
    like $said, qr/^tools\/learn\/watch: [^\n]*$message[^\n]*\n\z/, '... in a line that says what would be right';
}
($status, $said) = command('HINT=7 tools/learn/watch hint 2.1');
like $said, qr/has hints 1 to 2: HINT=7 is none/, 'a hint that is not there';
($status, $said) = command('WATCH_SECONDS=soon tools/learn/watch progress');
like $said, qr/WATCH_SECONDS is 'soon': a number of seconds/, 'a limit that is none';
rename '.book', 'book';
($status, $said) = command('tools/learn/watch progress');
is "$status $said", "2 tools/learn/watch: this is no student edition: make student CHAPTER=01 DIR=work makes one, in work\n",
  'the book itself has nothing to watch';
rename 'book', '.book';

# ---- What has no end is ended, with all that it began.

sub alive { return grep { kill 0 => $_ } @_ }

# What make began has ended, or ends soon.
sub all_end {
    open my $began, '<', "$folder/began" or die "nothing was begun: $!\n";
    chomp(my @began = <$began>);
    wait_until { !alive(@began) } "an end of @began";
    pass $_[0];
}

sub endless { unlink "$folder/began"; open my $file, '>', "$folder/endless" or die "$folder: $!\n" }

endless();
($status, $said) = command('WATCH_SECONDS=5 tools/learn/watch progress');
like $said, qr/^not done within 5 seconds, and ended$/m, 'tests without an end are ended, which is said';
is $status, 1, '... and is no success';
all_end('... and nothing that they began goes on');
unlink "$folder/endless";

# ---- make watch, through pipes.

my ($out, $in, $watch, $seen);
sub begin_watch {
    $watch = open2($out, $in, 'tools/learn/watch', '--pipe');
    $seen = '';
}

# Reads on until a screen, the last one so far, looks so.
sub screen_like {
    my ($pattern, $name) = @_;
    wait_until {
        sysread $out, $seen, 1 << 16, length $seen if IO::Select->new($out)->can_read(0);
        my ($screen) = $seen =~ /([^\f]*)\f\n\z/;
        utf8::decode($screen) && $screen =~ $pattern if defined $screen;
    } "$name: a screen like $pattern";
    $seen = '';
    pass $name;
}

sub press { syswrite $in, $_[0] }

sub end_watch {
    my ($name) = @_;
    waitpid $watch, 0;
    is $?, 0, $name;
    close $_ for $in, $out;
}

unlink '.progress', "$folder/asked";
for my $e ($book->all) { Chapter::save($e->{path}, $e->{chapter}->emptied(grep { $_->{number} eq $e->{number} } $book->all)) }
lay_out('01', "  not ok dot: one\n" . states(['1.1', 'empty'], ['1.2', 'empty'], ['1.3', 'empty']));
endless();
begin_watch();
screen_like(qr{^1\.1 dot, 2 points: empty\n.*^chapter 01 is built and tested}ms, 'as long as nothing has been tested, it is as it is');
wait_until { -s "$folder/began" } 'tests that run';
unlink "$folder/endless", "$folder/asked";
press('t');
my $head = qr{^\[-+\] 0 of \d+ .*^1\.1 dot, 2 points: empty\nchapters/01_dot_product\.c:\d+\n\n}ms;
screen_like(qr{$head-  0 of 1 tests\n\nExercise 1\.1.*^To read again: "Multiply, then add"}ms, 'the first open exercise, where it is, what is asked');
is `cat '$folder/asked'`, "1.1 -s -k test-01\n", '... of which alone the tests are run';
press('?');
screen_like(qr/^h +the next hint\n.*^q +quit$/ms, '? says what the keys do');
press(' ');
press('h');
screen_like(qr/^1\.1 dot.*^Hint 1 of 2 to 1\.1 dot:\nA sum needs/ms, 'h gives a hint, below the exercise');
press('s');
screen_like(qr/^Multiply, then add$/m, 's shows what to read again');
press('x');
screen_like(qr/^1\.1 dot/m, '... until another key');
press('l');
screen_like(qr/^1\.1 is not solved yet/m, 'l shows nothing before it is solved');
press('n');
screen_like(qr/^1\.2 dot_scores.*^Exercise 1\.2/ms, 'n goes on');
press('p');
screen_like(qr/^1\.1 dot/m, '... and p back');
press('p');
screen_like(qr/^24\.2 head_swap/m, '... round the book');
press('n');
screen_like(qr/^1\.1 dot/m, '... and again');

lay_out('01', $broken);
write_in('1.1', '    return 1', '    ;');
screen_like(qr/^chapters\/01_a\.c:97: expected ';'\n +97 \| .*\n +\| +\^\n(?!.*make:)/m, 'a save that does not compile: where');
lay_out('01', $failed =~ s/gave     1/gave     \e[31m\x{263a}/r);
Chapter::save('chapters/01_dot_product.c', map { s/return 1$/return 2/r } Exercises::lines_of('chapters/01_dot_product.c'));
screen_like(qr/^1\.1 dot, 2 points: wrong in 2 of 3 tests.*^\+-  1 of 2.*^FAILED  dot: one\n +gave     \?\[31m\x{263a}\n(?!.*(?:dot: two|is built))/ms,
  'one that is wrong: the first failure, from which nothing reaches the terminal');
press('h');
screen_like(qr/^FAILED  dot: one\n.*^Hints 1 to 2 of 2 to 1\.1 dot:\nA sum.*^The list/ms, '... and h gives its hints below that');

my $whole = join "\n", Exercises::lines_of('chapters/01_dot_product.c');
unlink "$folder/asked";
{ open my $file, '>', 'chapters/01_dot_product.c' or die }
screen_like(qr/^chapters\/01_dot_product\.c is gone or empty: it is waited for$/m, 'a file that is half written is waited for');
unlink 'chapters/01_dot_product.c';
press('?');
screen_like(qr/^q +quit$/m, '... as is one that is gone');
lay_out('02', states(@empty));
Chapter::save('chapters/02_softmax.c', Exercises::lines_of('chapters/02_softmax.c'), '// more');
screen_like(qr/^1\.1 dot/m, '... while another is saved');
press('?');
screen_like(qr/^q +quit$(?!.*is built)/ms, '... which waits as well');
ok !-e "$folder/asked", '... and nothing tested';
lay_out('01', "  ok     dot: one\n" . states(['1.1', 'done'], ['1.2', 'empty'], ['1.3', 'empty']));
Chapter::save('chapters/01_dot_product.c', split(/\n/, $whole), '// done');
screen_like(qr/^\[=*-+\] 1 of \d+ .*^1\.1 dot, 2 points: done.*^\+  1 of 1 tests.*^Next: 1\.2 dot_scores in chapters\/01_dot_product\.c:\d+$/ms,
  'what takes its place is tested: all green, and what comes next');
press('l');
screen_like(qr/^float dot\(.*sum \+= a/ms, 'now l shows how the book does it');
lay_out('01', states(['1.1', 'done'], ['1.2', 'done'], ['1.3', 'empty']));
write_in('1.2', '    return;');
screen_like(qr/^1\.2 dot_scores.*done\n.*^Next: 1\.3 cosine_scores in \S+, a challenge, which\s+may\s+be left out$/ms, 'who goes on to another is followed');
write_in('1.3', '    return;');
screen_like(qr/^1\.3 cosine_scores/m, 'so is who writes one that is not shown');
press('p');
screen_like(qr/^1\.2 dot_scores/m, 'back');
press('p');
screen_like(qr/^1\.1 dot/m, '... to the first');
press('r');
screen_like(qr/^Empty dot again\?.*^y yes/ms, 'r asks');
press('n');
screen_like(qr/^1\.1 dot, 2 points: done(?!.*Empty dot)/ms, '... and does nothing if it is not sure');
ok !-e 'chapters/01_dot_product.c.1', '... to the file neither';
lay_out('01', states(['1.1', 'empty'], ['1.2', 'empty'], ['1.3', 'empty']));
press('r');
screen_like(qr/^Empty dot again\?/m, '... asks again');
unlink "$folder/asked";
press('y');
screen_like(qr/^1\.1 dot, 2 points: empty(?!.*^Hint)/ms, '... and empties, hints and all');
press('h');
screen_like(qr/^Hint 1 of 2/m, '... which begin anew');
like join("\n", Exercises::lines_of('chapters/01_dot_product.c.1')), qr/return 2\n.*^\/\/ done$/ms, '... and keeps what was there';
wait_until { -s "$folder/asked" } 'a test of what is empty';
endless();
press('t');
wait_until { -s "$folder/began" } 'a test, as t asks for it';
press('h');
screen_like(qr/^Hints 1 to 2 of 2 .*^A sum.*^The list/ms, 't tests again, during which keys work');
press('q');
end_watch('q quits');
all_end('... and ends what runs');
unlink "$folder/endless";

# ---- On a terminal, which must be afterwards what it was.

SKIP: {
    skip 'script, which makes terminals, is not here', 1 if `script --version 2>/dev/null` !~ /util-linux/;
    for (['q', 'printf q'], ['Ctrl-C', "printf '\\003'"], map { ["a signal $_", "kill -$_ \$(cat pid)"] } qw(INT TERM HUP)) {
        my ($name, $how) = @$_;
        unlink 'pid', 'after', "$folder/asked"; # make is asked when all is set
        Chapter::save('session', 'stty -g >before', 'sh -c \'echo $$ >pid; exec tools/learn/watch\'', 'stty -g >after', 'echo over');
        ($status, $said) = command(qq{w() { perl -I'$root/tests' -MWait=wait_until -e 'wait_until { -s \$ARGV[0] } \$ARGV[0]' "\$1"; }; }
            . "{ w '$folder/asked'; $how; w after; } | script -qec 'sh session' /dev/null");
        like $said, qr/\e\[\?1049h.*1\.1 dot.*\e\[\?25h\e\[\?1049l/s, "$name: what stood on the terminal comes back";
        is `cat after`, `cat before`, '... and it is as it was';
    }
}

chdir $root;
done_testing;
