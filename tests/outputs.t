#!/usr/bin/env perl
# Every output block shows what the program prints; and the check that says so
# sees a wrong digit, a missing line and a wrong status.

use strict;
use warnings;
use File::Temp qw(tempdir);
use lib 'tools';
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';
my $folder = tempdir(CLEANUP => 1);

sub save {
    my ($path, @lines) = @_;
    open my $file, '>:encoding(UTF-8)', $path or die "$path: $!\n";
    print $file map { "$_\n" } @lines;
    close $file or die "$path: $!\n";
    return $path;
}

# ---- The chapters themselves.

for my $path (sort glob 'chapters/*.c') {
    my $chapter = Chapter->load($path);
    my @wrong = $chapter->check_outputs("$build/chapters/$chapter->{name}");
    is "@wrong", '', "$chapter->{name} prints what its text says"
      or diag map { "$_\n" } @wrong;
    cmp_ok scalar $chapter->outputs, '>', 0, "$chapter->{name} has output blocks";
}

# ---- The check, tried on a small program and its chapter.

my $program = save("$folder/program", '#!/bin/sh',
    'if [ "$1" = bad ]; then echo "x.c: main: no such thing" >&2; exit 2; fi',
    'if [ -n "$1" ]; then echo "one ($1)"; echo "[5.0000]"; exit 0; fi',
    'if [ "$DIGITS" = 9 ]; then',
    '  echo "first (3)"; echo "[ 0.123450001, -0.500000000, inf]"',
    '  echo "second (2)"; echo "[1.000000000, -0.000000001]"; echo "12 3 bytes"',
    'else',
    '  echo "first (3)"; echo "[ 0.1235, -0.5000, inf]"',
    '  echo "second (2)"; echo "[1.0000, -0.0000]"; echo "12 3 bytes"',
    'fi');
chmod 0755, $program;

my @good = ('/*', '# A {#a}', '', '``` output', 'first (3)', '[0.1235, -0.5000, inf]',
    '```', '', '``` output', 'second (2)', '[1.0000, 0.0000]', '12 3 bytes',
    '```', '', '``` {.output args="two"}', 'one (two)', '[5.0000]', '```', '',
    '``` {.output args="bad" status=2}', 'x.c: main: no such thing', '```', '*/');

sub faults_of {
    my ($tried, @lines) = @_;
    return join "\n", Chapter->load(save("$folder/01_a.c", @lines))->check_outputs($tried);
}

sub faults_with {
    my (%change) = @_; # index of a line => its new text, undef to leave it out
    my @lines = @good;
    $lines[$_] = $change{$_} for keys %change;
    return faults_of($program, grep { defined } @lines);
}

is faults_with(), '', 'what the program prints is accepted';
is faults_with(5 => '[0.1234, -0.5000, inf]'), '',
  'so is a value within 2e-6 of a rounding tie, rounded the other way';
is faults_with(5 => '[  0.1235,-0.5000  ,   inf ] '), '',
  'blanks beside brackets and commas do not count';
is faults_with(11 => ' 12   3 bytes '), '', 'nor do more blanks than one, or at the ends';
my @faults = (
    ['a last digit', 5 => '[0.1236, -0.5000, inf]', qr/:6: 0\.1236 is shown/],
    ['a first digit', 5 => '[1.1235, -0.5000, inf]', qr/:6: 1\.1235 is shown/],
    ['a sign', 5 => '[0.1235, 0.5000, inf]', qr/:6: 0\.5000 is shown/],
    ['fewer digits', 5 => '[0.12, -0.5000, inf]', qr/:6: 0\.12 has another number/],
    ['an infinity', 5 => '[0.1235, -0.5000, -inf]', qr/:6: the program prints/],
    ['an integer', 4 => 'first (4)', qr/:5: the program prints 'first \(3\)'/],
    ['a line left out', 10 => undef, qr/:11: the program prints '\[1\.0000, -0\.0000\]'/],
    ['the last line left out', 11 => undef, qr/:11: the program goes on with '12 3 bytes'/],
    ['another place of a blank', 11 => '1 23 bytes', qr/:12: the program prints '12 3 bytes'/],
    ['a blank left out', 11 => '12 3bytes', qr/:12: the program prints '12 3 bytes'/],
    ['a blank too many', 15 => 'o ne (two)', qr/:16: the program prints 'one \(two\)'/],
    ['a line too many', 11 => "12 3 bytes\nmore", qr/:13: 'more' is shown, but/],
    ['a run with arguments', 16 => '[5.0001]', qr/:17: 5\.0001 is shown/],
    ['a message', 20 => 'x.c: main: no such thang', qr/:21: the program prints/],
    ['a status', 19 => '``` {.output args="bad" status=3}', qr/:20: the program ends with status 2/],
    ['no label', 4 => '[0.1235]', qr/:5: an output block begins with a label/],
    ['a wide line', 4 => 'w' x 73, qr/:5: an output line of 73 columns/],
);
for (@faults) {
    my ($name, $line, $text, $message) = @$_;
    like faults_with($line => $text), $message, "seen: $name";
}

# The same program, but for some lines of the shell before or instead of it.
sub variant {
    my (@lines) = @_;
    my $path = save("$folder/variant", '#!/bin/sh', @lines, "exec '$program' \"\$@\"");
    chmod 0755, $path;
    return $path;
}

# With DIGITS=9 the same is printed, only with more digits.
my @precise = (
    ['another status', '[ "$DIGITS$1" != 9 ] || exit 7',
        qr/:1: the program ends with status 0, but with DIGITS=9 with 7$/],
    ['another status of a run', '[ "$DIGITS$1" != 9two ] || exit 7',
        qr/:15: the program ends with status 0, but with DIGITS=9 with 7$/],
    ['a line too many', '[ "$DIGITS$1" != 9 ] || echo more',
        qr/:1: the program prints 5 lines, but with DIGITS=9 6$/],
    ['a line too few', '[ "$DIGITS$1" != 9two ] || { echo "one (two)"; exit; }',
        qr/:15: the program prints 2 lines, but with DIGITS=9 1$/],
    ['another line', '[ "$DIGITS$1" != 9two ] || { echo "one (2)"; echo "[5.000000000]"; exit; }',
        qr/:16: the program prints 'one \(two\)', but with DIGITS=9 'one \(2\)'$/],
);
for (@precise) {
    my ($name, $line, $message) = @$_;
    like faults_of(variant($line), @good), $message, "seen: $name with DIGITS=9";
}

# A figure is drawn by the plain run alone.
my $drawing = '[ -z "$FIGURES" ] || echo "<$1,$DIGITS>" >>"$FIGURES/drawn"';
sub drawn {
    my ($use) = @_;
    local $ENV{FIGURES} = $folder;
    unlink "$folder/drawn";
    $use->(variant($drawing));
    open my $file, '<', "$folder/drawn" or return '';
    return join '', <$file>;
}
is drawn(sub { faults_of($_[0], @good) }), "<,>\n", 'figures are drawn once, by the plain run';

# ---- Filling blocks again.

sub filled_by {
    my ($tried, @lines) = @_;
    my $path = save("$folder/01_a.c", @lines);
    my @new = eval { Chapter->load($path)->fill_outputs($tried) };
    return $@ || join "\n", @new;
}
sub filled { return filled_by($program, @_) }
my @bare = ('/*', '``` output', 'first (3)', '```', '``` output', 'second (2)',
    'old', '```', '``` {.output args="two"}', '```', '*/');
is filled(@bare), join("\n", '/*', '``` output', 'first (3)', '[ 0.1235, -0.5000, inf]',
    '```', '``` output', 'second (2)', '[1.0000, -0.0000]', '12 3 bytes',
    '```', '``` {.output args="two"}', 'one (two)', '[5.0000]', '```', '*/'),
  'blocks are filled from their first lines on';
is filled(@good), join("\n", @good), 'blocks that are right are left as they are';
like filled('/*', '``` output', 'third', '```', '*/'),
  qr/:3: the program does not print 'third'/, 'an anchor that is not printed is an error';
like filled('/*', '``` output', 'second (2)', '```', '*/'),
  qr/:3: the program prints 'first \(3\)' before the first block/,
  'so is output before the first anchor';
like filled_by(variant('[ "$1" != two ] || exit 7'), @good),
  qr/:15: the program ends with status 7 where 0 is expected/, 'so is a status that is not expected';
like filled_by(variant('[ "$DIGITS$1" != 9two ] || exit 7'), @good),
  qr/:15: the program ends with status 0, but with DIGITS=9 with 7/, 'or that digits change';
is drawn(sub { filled_by($_[0], @good) }), "<,>\n", 'filling draws no figure twice either';

# tools/outputs writes the file anew where a line break alone has changed.
my $broken = save("$folder/01_a.c", map { /^one/ ? 'one (two) [5.0000]' : $_ eq '[5.0000]' ? () : $_ } @good);
like `$^X tools/outputs --update '$broken' '$program'`, qr/output blocks changed/,
  'a line break is mended';
is_deeply(Chapter->load($broken)->{lines}, \@good, '... in the file');

done_testing;
