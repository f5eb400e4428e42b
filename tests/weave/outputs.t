#!/usr/bin/env perl
# The check of output blocks, which make does for each chapter, sees a wrong digit, a
# missing line and a wrong status. The form of a chapter, which all tools take from one
# parser, is tried here as well.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $folder = tempdir(CLEANUP => 1);

# ---- The form: m is a line /* or */, p prose, f a fence, c code.

sub chapter { return Chapter->load(Chapter::save("$folder/01_a.c", @_)) }
my @form = ('/* ', '# A {#a}', '``` output', '~~~', '    /', '```  ', '~ ~', '*/  ', '',
    '/* code */', "int a;\r", '', ' /*', ' */', '/*', '```', '', '```', '*/');
my $chapter = chapter(@form);
is join('', map { substr $_, 0, 1 } @{$chapter->{kind}}), 'mpffffpmccccccmfffm', 'lines are told apart';
is_deeply [map { [@$_{qw(info first)}, @{$_->{lines}}] } @{$chapter->{blocks}}],
  [['output', 3, '~~~', '    /'], ['', 16, '']], 'and fences read';
is_deeply [$chapter->runs], [[9, 13]], 'and runs of code';
is $chapter->{lines}[10], 'int a;', 'whatever ends a line';
is_deeply chapter('/*', '**Exercise 1.2** (★, challenge, 2 points):', '`f`. Do.', '',
    '**Exercise 1.1** (by hand): `f`.', '*/', 'int f(int x)', '{', '}')->{exercises},
  [{id => '1.2', about => '★, challenge, 2 points', function => 'f', points => 2, line => 1, open => 7},
    {id => '1.1', about => 'by hand', function => undef, points => undef, line => 4, open => undef}],
  'and exercises';

# What only shows is folded. No line of code is lost, or there twice.
sub pieces {
    my ($chapter) = @_;
    return map { [$_->{first}, $_->{last}, $_->{shows} // ()] } map { $chapter->pieces(@$_) } $chapter->runs;
}
my @shows = map { ("static void $_(int x)", '{', '', '}', '') } qw(show_it draw_it print_it);
is_deeply [pieces(chapter(@shows))], [[0, 13, 'print']], 'functions that show are one piece';
is_deeply [pieces(chapter(@shows[5 .. 9], 'int main(void)', @shows[1 .. 9]))], [[0, 13, 'main']],
  '... the program, if it is among them';
is_deeply [pieces(chapter(@shows[5 .. 9], '', '/* a', '', ' */', '// b', @shows[5 .. 8], '// c'))],
  [[0, 13, 'draw'], [14, 14]], '... each with the comment above it';
is_deeply [pieces(chapter('int x; /* a */', @shows[5 .. 8], 'float mean_draw_(int x)', @shows[1 .. 3]))],
  [[0, 0], [1, 4, 'draw'], [5, 8]], '... and with nothing else';
is_deeply [pieces(chapter('/*', '**Exercise 1.1** (★, 1 point): `draw_it`. Do.', '*/', @shows[5 .. 8]))],
  [[3, 6]], 'what an exercise asks for is open';
is_deeply [pieces(chapter('void draw_it(int x);', 'void half(int x)', @shows[1 .. 3]))], [[0, 4]],
  'so is what is only declared';
for my $path (sort glob 'chapters/*.c') {
    my $chapter = Chapter->load($path);
    my %in;
    cmp_ok scalar $chapter->outputs, '>', 0, "$chapter->{name} has output blocks";
    $in{$_}++ for map { $_->[0] .. $_->[1] } pieces($chapter);
    is_deeply [grep { $in{$_} != 1 } sort { $a <=> $b } keys %in,
        grep { $chapter->{lines}[$_] =~ /\S/ && !$in{$_} } $chapter->lines_of('code')], [],
      "$chapter->{name}: each line of code is in one piece";
}

is join(' ', chapter('/*', '# A {#a}', 'two words', '```', 'no no', '```', '', '::: hint', 'none', '',
        'none', ':::', '::: question', 'it is $x - 3$', ':::', '*/', 'int x;', '', 'int half(int x)',
        @shows[1 .. 9], '/*', '## Solutions', 'none', '*/', 'int y;')->measure), '10 4',
  'its length: the words of its prose, and its open code, up to the solutions';

eval { chapter('*/', '/*', '~~~') };
is $@ =~ s/.*:(\d+): .*\n/$1 /gr, '1 2 3 3 ', 'what is wrong is told in order, all of it';

# ---- What a program cannot take, and what it cannot print, each in one line.

my $build = $ENV{BUILD} // 'build';
for my $name (map { m{(\w+)\.c$} } sort glob 'chapters/*.c') {
    my $said = `$build/chapters/$name no such 2>&1`;
    is $? >> 8, 2, "$name ends with status 2 when it does not take what is given";
    like $said, qr/\A\w+\.c: \w+: [^\n]*\b(?:takes no|needed|read)\b[^\n]*\n\z/, '... and says so';
}
is `$build/chapters/02_softmax 2>&1 >/dev/full`,
  "refuse.c: check_printed: standard output cannot be written: No space left on device\n", 'a full disk is told';
is $? >> 8, 2, '... with status 2';

# ---- The check, tried on a small program and its chapter. The program may begin
# with some more lines of the shell.

sub program {
    my (@lines) = @_;
    my $odd = "$folder/Gr\xc3\xb6\xc3\x9fe"; # any folder's name is bytes
    mkdir $odd;
    chmod 0755, Chapter::save("$odd/program", '#!/bin/sh', @lines,
        'if [ "$1" = bad ]; then echo "x.c: main: no such thing" >&2; exit 2; fi',
        'if [ -n "$1" ]; then echo "one ($1)"; echo "[5.0000]"; exit 0; fi',
        'if [ "$DIGITS" = 9 ]; then',
        '  echo "first (3)"; echo "[ 0.123450001, -0.500000000, inf]"',
        '  echo "second (2)"; echo "[1.000000000, -0.000000001]"; echo "12 3 bytes"',
        'else',
        '  echo "first (3)"; echo "[ 0.1235, -0.5000, inf]"',
        '  echo "second (2)"; echo "[1.0000, -0.0000]"; echo "12 3 bytes"',
        'fi');
    return "$odd/program";
}

my @good = ('/*', '# A {#a}', '', '``` output', 'first (3)', '[0.1235, -0.5000, inf]',
    '```', '', '``` output', 'second (2)', '[1.0000, 0.0000]', '12 3 bytes',
    '```', '', '``` {.output args="two"}', 'one (two)', '[5.0000]', '```', '',
    '``` {.output args="bad" status=2}', 'x.c: main: no such thing', '```', '*/');

# What is wrong with a chapter in which lines, by their indices, are others.
sub faults {
    my ($program, %change) = @_;
    my @lines = grep { defined } map { exists $change{$_} ? $change{$_} : $good[$_] } 0 .. $#good;
    return join "\n", chapter(@lines)->check_outputs($program);
}

my $program = program();
is faults($program, @$_), '', "accepted: @$_" for [],
  [5 => '[0.1234, -0.5000, inf]'], # within 2e-6 of a tie, rounded the other way
  [5 => '[  0.1235,-0.5000  ,   inf ] '], [11 => ' 12   3 bytes '];
for (
    [5  => '[0.1236, -0.5000, inf]', qr/:6: 0\.1236 is shown/],
    [5  => '[1.1235, -0.5000, inf]', qr/:6: 1\.1235 is shown/],
    [5  => '[0.1235, 0.5000, inf]', qr/:6: 0\.5000 is shown/],
    [5  => '[0.12, -0.5000, inf]', qr/:6: 0\.12 has another number/],
    [5  => '[0.1235, -0.5000, -inf]', qr/:6: the program prints/],
    [4  => 'first (4)', qr/:5: the program prints 'first \(3\)'/],
    [10 => undef, qr/:11: the program prints '\[1\.0000, -0\.0000\]'/],
    [11 => undef, qr/:11: the program goes on with '12 3 bytes'/],
    [11 => '1 23 bytes', qr/:12: the program prints '12 3 bytes'/],
    [11 => '12 3bytes', qr/:12: the program prints '12 3 bytes'/],
    [15 => 'o ne (two)', qr/:16: the program prints 'one \(two\)'/],
    [11 => "12 3 bytes\nmore", qr/:13: 'more' is shown, but/],
    [16 => '[5.0001]', qr/:17: 5\.0001 is shown/],
    [20 => 'x.c: main: no such thang', qr/:21: the program prints/],
    [19 => '``` {.output args="bad" status=3}', qr/:20: the program ends with status 2/],
    [4  => '[0.1235]', qr/:5: an output block begins with a label/],
    [4  => 'w' x 73, qr/:5: an output line of 73 columns/],
    [4  => "first\n" x 26, qr/:5: an output block of 28 lines/],
) {
    my ($line, $text, $message) = @$_;
    like faults($program, $line => $text), $message, 'seen: ' . ($text // "no line $line");
}

# With DIGITS=9 the same is printed, only with more digits.
for (
    ['[ "$DIGITS$1" != 9 ] || exit 7', qr/:1: .* with status 0, but with DIGITS=9 with 7$/],
    ['[ "$DIGITS$1" != 9two ] || exit 7', qr/:15: .* with status 0, but with DIGITS=9 with 7$/],
    ['[ "$DIGITS$1" != 9 ] || echo more', qr/:1: .* prints 5 lines, but with DIGITS=9 6$/],
    ['[ "$DIGITS$1" != 9two ] || { echo "one (two)"; exit; }',
        qr/:15: .* prints 2 lines, but with DIGITS=9 1$/],
    ['[ "$DIGITS$1" != 9two ] || { echo "one (2)"; echo "[5.000000000]"; exit; }',
        qr/:16: the program prints 'one \(two\)', but with DIGITS=9 'one \(2\)'$/],
) {
    my ($line, $message) = @$_;
    like faults(program($line)), $message, "seen: $line";
}

# ---- Filling blocks again.

sub filled {
    my ($program, @lines) = @_;
    my @new = eval { chapter(@lines)->fill_outputs($program) };
    return $@ || join "\n", @new;
}

is filled(program(), '/*', '``` output', 'first (3)', '```', '``` output', 'second (2)', 'old',
    '```', '``` {.output args="two"}', '```', '*/'),
  join("\n", '/*', '``` output', 'first (3)', '[ 0.1235, -0.5000, inf]', '```', '``` output',
    'second (2)', '[1.0000, -0.0000]', '12 3 bytes', '```', '``` {.output args="two"}', 'one (two)',
    '[5.0000]', '```', '*/'), 'blocks are filled from their first lines on';
is filled(program(), @good), join("\n", @good), 'blocks that are right are left as they are';
for (
    ['third', qr/:3: the program does not print 'third'$/],
    ['second', qr/:3: .* not print 'second': it prints 'second \(2\)' at its line 3$/],
    ['second (2)', qr/:3: the program prints 'first \(3\)' before the first block/],
    ['', qr/:3: an output block needs its first line/],
    ["first (3)\n```\n``` output\nfirst", qr/:6: .* not print 'first' after the block before$/],
) {
    my ($label, $message) = @$_;
    like filled(program(), '/*', '``` output', $label, '```', '*/'), $message, "an error: '$label'";
}
like filled(program('[ "$1" != two ] || exit 7'), @good),
  qr/:15: the program ends with status 7 where 0 is expected/, 'so is an unexpected status';
like filled(program('[ "$DIGITS$1" != 9two ] || exit 7'), @good),
  qr/:15: the program ends with status 0, but with DIGITS=9 with 7/, 'or that digits change';

# A figure is drawn by the plain run alone.
for (\&faults, sub { filled($_[0], @good) }) {
    local $ENV{FIGURES} = $folder;
    $_->(program('[ -z "$FIGURES" ] || echo "<$1,$DIGITS>" >>"$FIGURES/drawn"'));
    is `cat '$folder/drawn'`, "<,>\n", 'figures are drawn once, by the plain run';
    unlink "$folder/drawn";
}

# tools/weave/outputs writes the file anew where a line break alone has changed.
my $broken = "$folder/01_a.c";
chapter(map { /^one/ ? 'one (two) [5.0000]' : $_ eq '[5.0000]' ? () : $_ } @good);
like `$^X tools/weave/outputs --update '$broken' '@{[program()]}'`, qr/output blocks changed/,
  'a line break is mended';
is_deeply(Chapter->load($broken)->{lines}, \@good, '... in the file');

done_testing;
