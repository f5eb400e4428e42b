#!/usr/bin/env perl
# The numbers that the tutorials print, one row each in documents.tsv, against
# what the chapters' programs print. Columns, separated by tabs:
#
#   document  place  printed  chapter  output  right  note
#
# `output` is the label line in the program's output that the right numbers
# follow: "scores (3, 3)"; "+3" behind it skips three numbers; "@2" takes the
# label's second occurrence; a label that ends in a colon has its number on
# its own line; "shape: keys" has the sizes that stand behind the label "keys".
# Where the note is empty, what the document prints must agree
# with what is right; where it says "wrong (A.12): ...", it must not, and
# appendix A tells in A.12 what is wrong (tests/errata.t).

use strict;
use warnings;
use lib 'tools';
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';
my $NUMBER = qr/[-+]?\d+(?:\.\d*)?|-?inf|nan/;
my $WRONG = qr/^wrong \(A\.\d+\): /;
my $NEAR = 1e-6; # besides half a unit of the last digit that is shown

sub numbers { return $_[0] =~ /(?<![\w.])($NUMBER)(?!\w)/g }

sub agrees {
    my ($shown, $value) = @_;
    return $shown eq $value if "$shown$value" =~ /[a-z]/;
    my $places = $shown =~ /\.(\d*)/ ? length $1 : 0;
    return abs($shown - $value) <= ($places ? 0.5 * 10**-$places : 0) + $NEAR;
}

# The numbers that follow a label in a program's output.
sub numbers_after {
    my ($label, @lines) = @_;
    my ($text, $skip, $nth) = ($label, 0, 1);
    $skip = $1 if $text =~ s/\s+\+(\d+)$//;
    $nth  = $1 if $text =~ s/\s+\@(\d+)$//;
    my $shape = $text =~ s/^shape: //;
    for my $i (0 .. $#lines) {
        if ($shape) {
            next if $lines[$i] !~ /^\Q$text\E (\([\d, ]+\))$/ || --$nth;
            return numbers($1);
        }
        if ($text =~ /:$/) {
            next if index($lines[$i], $text) != 0 || --$nth;
            return numbers(substr $lines[$i], length $text);
        }
        next if $lines[$i] ne $text || --$nth;
        my @numbers = map { numbers($_) } grep { /^[\s\[\]]*[\[({]/ }
          @lines[$i + 1 .. $#lines];
        splice @numbers, 0, $skip;
        return @numbers;
    }
    return;
}

# Says what is wrong with a row, or nothing.
sub fault {
    my ($row, $lines) = @_;
    my (undef, undef, $printed, undef, $output, $right, $note) = @$row;
    my @right = numbers($right);
    my @has   = numbers_after($output, @$lines);
    return 'the row has no right numbers' if !@right;
    return "the program does not print '$output'" if !@has;
    for my $k (0 .. $#right) {
        return "number $k is $right[$k], but the program has " . ($has[$k] // 'nothing')
          if !defined $has[$k] || !agrees($right[$k], $has[$k]);
    }
    my @printed = numbers($printed);
    my $same = @printed == @right
      && !grep { !agrees($printed[$_], $has[$_]) } 0 .. $#printed;
    return 'the document prints what is right, but the note says: ' . $note
      if $same && $note =~ /^wrong/;
    return "the document prints $printed, which is not right, but the note does not say "
      . "'wrong (A.12): ...', with the number that appendix A tells it under"
      if !$same && $note !~ $WRONG;
    return;
}

my (@rows, %lines);
open my $file, '<:encoding(UTF-8)', 'tests/documents.tsv' or die "documents.tsv: $!\n";
my ($rows, $numbers);
while (<$file>) {
    chomp;
    ($rows, $numbers) = ($1, $2) if /^# (\d+) rows, (\d+) numbers$/;
    next if /^#|^\s*$/;
    push @rows, [$., split(/\t/, $_, -1)];
}
# A row that is lost would not be missed otherwise.
my $found = 0;
$found += () = numbers($_->[6] // '') for @rows;
is scalar(@rows) . " rows, $found numbers", ($rows // 0) . ' rows, ' . ($numbers // 0) . ' numbers',
  'documents.tsv holds as many as its first lines say';
for (@rows) {
    my ($number, @row) = @$_;
    my $name = "documents.tsv:$number: $row[0], $row[1]";
    if (@row != 7) { fail "$name has " . @row . ' columns: 7 are needed'; next }
    $lines{$row[3]} //= do {
        my ($program) = glob "$build/chapters/$row[3]_*[a-z]";
        (Chapter::run($program // "no-chapter-$row[3]", '', DIGITS => 9))[0];
    };
    my $fault = fault(\@row, $lines{$row[3]});
    ok !$fault, $name or diag $fault;
}

# ---- The check, tried.

my @lines = ('a (2)', '[0.123449000, 2.000000000]', 'b: 32.000000000',
    'a (2)', '[5.000000000, -inf]', 'scores for 7', '[1.000000000]');
sub tried { my $fault = fault(['d', 'p', @_], \@lines); return $fault // '' }
is tried('[0.1234, 2]', '01', 'a (2)', '0.1234 2', ''), '', 'right and printed right';
is tried('32', '01', 'b:', '32', ''), '', 'a number on its label\'s line';
is tried('[5, -inf]', '01', 'a (2) @2', '5 -inf', ''), '', 'a second occurrence';
is tried('2', '01', 'a (2) +1', '2', ''), '', 'a number skipped';
is tried('33', '01', 'b:', '32', 'wrong (A.1): a slip'), '', 'printed wrong, and said so';
like tried('0.1234', '01', 'a (2)', '0.1236', ''), qr/number 0 is 0\.1236/, 'seen: a wrong right value';
like tried('33', '01', 'b:', '32', ''), qr/not right/, 'seen: a wrong printed value';
like tried('33', '01', 'b:', '32', 'wrong: a slip'), qr/does not say/, 'seen: no place in appendix A';
like tried('32', '01', 'b:', '32', 'wrong (A.1): a slip'), qr/prints what is right/, 'seen: a false accusation';
like tried('32', '01', 'c:', '32', ''), qr/does not print 'c:'/, 'seen: an output that is not there';
like tried('5', '01', 'a (2) @2', '5 inf', ''), qr/number 1 is inf/, 'seen: a wrong infinity';

done_testing;
