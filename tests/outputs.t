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
    'if [ "$1" = bad ]; then echo "src/x.c:7: no such thing" >&2; exit 2; fi',
    'if [ -n "$1" ]; then echo "one ($1)"; echo "[5.0000]"; exit 0; fi',
    'if [ "$DIGITS" = 9 ]; then',
    '  echo "first (3)"; echo "[ 0.123450001, -0.500000000, inf]"',
    '  echo "second (2)"; echo "[1.000000000, -0.000000001]"',
    'else',
    '  echo "first (3)"; echo "[ 0.1235, -0.5000, inf]"',
    '  echo "second (2)"; echo "[1.0000, -0.0000]"',
    'fi');
chmod 0755, $program;

my @good = ('/*', '# A {#a}', '', '``` output', 'first (3)', '[0.1235, -0.5000, inf]',
    '```', '', '``` output', 'second (2)', '[1.0000, 0.0000]', '```', '',
    '``` {.output args="two"}', 'one (two)', '[5.0000]', '```', '',
    '``` {.output args="bad" status=2}', 'src/x.c:7: no such thing', '```', '*/');

sub faults_with {
    my (%change) = @_; # index of a line => its new text, undef to leave it out
    my @lines = @good;
    $lines[$_] = $change{$_} for keys %change;
    my $path = save("$folder/01_a.c", grep { defined } @lines);
    return join "\n", Chapter->load($path)->check_outputs($program);
}

is faults_with(), '', 'what the program prints is accepted';
is faults_with(5 => '[0.1234, -0.5000, inf]'), '',
  'so is a value within 2e-6 of a rounding tie, rounded the other way';
is faults_with(5 => '[  0.1235,-0.5000,   inf ]'), '', 'blanks do not count';
is faults_with(19 => 'src/x.c:5: no such thing'), '',
  'another compiler may name another line of the statement that refuses';
my @faults = (
    ['a last digit', 5 => '[0.1236, -0.5000, inf]', qr/:6: 0\.1236 is shown/],
    ['a first digit', 5 => '[1.1235, -0.5000, inf]', qr/:6: 1\.1235 is shown/],
    ['a sign', 5 => '[0.1235, 0.5000, inf]', qr/:6: 0\.5000 is shown/],
    ['fewer digits', 5 => '[0.12, -0.5000, inf]', qr/:6: 0\.12 has another number/],
    ['an infinity', 5 => '[0.1235, -0.5000, -inf]', qr/:6: the program prints/],
    ['an integer', 4 => 'first (4)', qr/:5: the program prints 'first \(3\)'/],
    ['a line left out', 10 => undef, qr/:\d+: the program goes on with '\[1\.0000, -0\.0000\]'/],
    ['a line too many', 10 => "[1.0000, 0.0000]\nmore", qr/:12: 'more' is shown, but/],
    ['a run with arguments', 15 => '[5.0001]', qr/:16: 5\.0001 is shown/],
    ['a message', 19 => 'src/x.c:7: no such thang', qr/:20: the program prints/],
    ['the line of a message', 19 => 'src/x.c:11: no such thing', qr/:20: the program prints/],
    ['a status', 18 => '``` {.output args="bad" status=3}', qr/:19: the program ends with status 2/],
    ['no label', 4 => '[0.1235]', qr/:5: an output block begins with a label/],
    ['a wide line', 4 => 'w' x 73, qr/:5: an output line of 73 columns/],
);
for (@faults) {
    my ($name, $line, $text, $message) = @$_;
    like faults_with($line => $text), $message, "seen: $name";
}

# A figure is drawn by the plain run alone.
my $drawing = save("$folder/drawing", '#!/bin/sh',
    'test -n "$FIGURES" && echo "<$1,$DIGITS>" >>"$FIGURES/drawn"', "exec '$program' \"\$@\"");
chmod 0755, $drawing;
{
    local $ENV{FIGURES} = $folder;
    my $path = save("$folder/01_a.c", @good);
    Chapter->load($path)->check_outputs($drawing);
}
is do { open my $file, '<', "$folder/drawn" or die $!; join '', <$file> }, "<,>\n",
  'figures are drawn once, by the plain run';

# ---- Filling blocks again.

sub filled {
    my (@lines) = @_;
    my $path = save("$folder/01_a.c", @lines);
    my @new = eval { Chapter->load($path)->fill_outputs($program) };
    return $@ || join "\n", @new;
}
my @bare = ('/*', '``` output', 'first (3)', '```', '``` output', 'second (2)',
    'old', '```', '``` {.output args="two"}', '```', '*/');
is filled(@bare), join("\n", '/*', '``` output', 'first (3)', '[ 0.1235, -0.5000, inf]',
    '```', '``` output', 'second (2)', '[1.0000, -0.0000]', '```',
    '``` {.output args="two"}', 'one (two)', '[5.0000]', '```', '*/'),
  'blocks are filled from their first lines on';
is filled(@good), join("\n", @good), 'blocks that are right are left as they are';
like filled('/*', '``` output', 'third', '```', '*/'),
  qr/:3: the program does not print 'third'/, 'an anchor that is not printed is an error';
like filled('/*', '``` output', 'second (2)', '```', '*/'),
  qr/:3: the program prints 'first \(3\)' before the first block/,
  'so is output before the first anchor';

done_testing;
