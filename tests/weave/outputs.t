#!/usr/bin/env perl
# The check of output blocks, which make does for each chapter, and the form of a
# chapter, which all tools take from one parser.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $folder = tempdir(CLEANUP => 1);
my $path   = "$folder/01_a.c";

# ---- The form: m is a line /* or */, p prose, f a fence, c code.

sub chapter { return Chapter->load(Chapter::save($path, @_)) }
my $chapter = chapter('/* ', '# A {#a}', '``` output', '~~~', '    /', '```  ', '~ ~', '*/  ', '',
    '/* code */', "int a;\r", '', ' /*', ' */', '/*', '```', '', '```', '*/');
is join('', map { substr $_, 0, 1 } @{$chapter->{kind}}), 'mpffffpmccccccmfffm', 'lines are told apart';
is_deeply [$chapter->runs], [[9, 13]], 'and runs of code';
is_deeply chapter('/*', '**Exercise 1.2** (★, challenge, 2 points):', '`f`. Do.', '*/', 'int f(int x)', '{',
    '}')->{exercises}, [{id => '1.2', about => '★, challenge, 2 points', function => 'f', points => 2,
    line => 1, open => 5}], 'and exercises';

# What is folded, and the program.
my @code = map { ("int $_(void)", '{', '}') } qw(f main g);
for (
    [[@code], [0, 2, ''], [3, 5, 'The program'], [6, 8, '']],
    [['/* folded: how this is printed */', '// Shows.', @code[0 .. 5]], [1, 7, 'The program']],
    [['int x;', '/* folded: how this is drawn */', @code[0 .. 2], '', '/* unfolded */', '', @code[6 .. 8]],
        [0, 0, ''], [2, 4, 'How this is drawn'], [8, 10, '']],
) {
    my ($lines, @pieces) = @$_;
    my $chapter = chapter(@$lines);
    is_deeply [map { [@$_{qw(first last folded)}] } map { $chapter->pieces(@$_) } $chapter->runs], \@pieces, "pieces: @$lines[0, 1]";
}
# ---- Each chapter's program says in one line what it cannot take, and cannot print.

my $build = $ENV{BUILD} // 'build';
for my $name (map { m{(\w+)\.c$} } sort glob 'chapters/*.c') {
    my $said = qx{$build/chapters/$name no @{['such' x 10]} 2>&1};
    is $? >> 8, 2, "$name ends with status 2 when it does not take what is given";
    like $said, qr/\A\w+\.c: \w+: [^\n]*\b(?:takes no|needed|read)\b[^\n]*\n\z/, '... and says so';
}
is qx{$build/chapters/02_softmax 2>&1 >/dev/full},
  "program.c: output_check: standard output cannot be written: No space left on device\n", 'a full disk is told';

# ---- The check of a small chapter. Its program may begin with more lines of the shell.

my $program = "$folder/program";
sub program {
    my (@lines) = @_;
    chmod 0755, Chapter::save($program, '#!/bin/sh', @lines,
        'if [ "$1" ]; then echo "x.c: main: no such thing" >&2; exit 2; fi',
        'if [ "$DIGITS" = 9 ]; then echo "first (3)"; echo "[ 0.123450001, -0.500000000, inf]"',
        'else echo "first (3)"; echo "[ 0.1235, -0.5000, inf]"; fi',
        'echo "second"; echo "12 3 bytes"');
}
program();
my @good = ('/*', '``` output', 'first (3)', '[ 0.1235, -0.5000, inf]', '```', '``` output', 'second',
    '12 3 bytes', '```', '``` {.output args="bad" status=2}', 'x.c: main: no such thing', '```', '*/');

# tools/weave/outputs on a chapter in which lines, by their indices, are others.
sub outputs {
    my ($mode, %change) = @_;
    Chapter::save($path, map { $change{$_} // $good[$_] } 0 .. $#good);
    return scalar qx{$^X tools/weave/outputs --$mode '$path' '$program' 2>&1};
}

is outputs('check', @$_), '', "accepted: @$_" for [], [3 => '[0.1234,-0.5000 , inf]'];
for (
    [3 => '[0.1236, -0.5000, inf]', qr/:4: 0\.1236 is shown/],
    [3 => '[0.12, -0.5000, inf]', qr/:4: 0\.12 has another number/],
    [3 => '[0.1235, -0.5000, -inf]', qr/:4: the program prints/],
    [7 => '12 3bytes', qr/:8: the program prints '12 3 bytes'/],
    [7 => '', qr/:7: the program goes on with '12 3 bytes'/],
    [7 => "12 3 bytes\nmore", qr/:9: 'more' is shown, but/],
    [9 => '``` {.output args="bad" status=3}', qr/:10: the program ends with status 2/],
    [9 => '``` {.output arg=1}', qr/:10: the fence .* is neither/],
    [2 => '[0.1235]', qr/:3: an output block begins with a label/],
    [2 => 'w' x 73, qr/:3: an output line of 73 columns/],
    [2 => "first\n" x 26, qr/:3: an output block of 28 lines/],
) {
    my ($line, $text, $message) = @$_;
    like outputs('check', $line => $text), $message, "seen: $text";
}

is outputs('update', 3 => '[0.1236]'), "$path: output blocks changed\n", 'a wrong block is filled';
is_deeply(Chapter->load($path)->{lines}, \@good, '... with what the program prints');
like outputs('update', 6 => 'third'), qr/:7: the program does not print 'third'/, 'refused: an unknown first line';
like outputs('update', 2 => 'second'), qr/:3: the program prints 'first \(3\)' before/, 'refused: not the first';
for (
    ['[ "$DIGITS" != 9 ] || exit 7', qr/:1: .* status 0, but with DIGITS=9 with 7/],
    ['[ "$DIGITS" != 9 ] || echo more', qr/:1: .* prints 4 lines, but with DIGITS=9 5/],
) {
    my ($line, $message) = @$_;
    program($line);
    like outputs('check'), $message, "seen: $line";
}

done_testing;
