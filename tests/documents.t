#!/usr/bin/env perl
# The numbers that the tutorials print, one row each in documents.tsv, against
# what the chapters' programs print. Columns, separated by tabs:
#
#   document  place  printed  chapter  output  right  note
#
# `output` is the label line in the program's output that the right numbers
# follow: "scores (3, 3)"; "+3" behind it skips three numbers; a label that ends
# in a colon has its number on its own line; "shape: keys" has the sizes that
# stand behind the label "keys". Where the note is empty, what the document
# prints must agree with what is right; where it says "wrong (A.12): ...", it
# must not, and appendix A tells in A.12 what is wrong (tests/errata.t).

use strict;
use warnings;
use Documents;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';
my $NUMBER = qr/[-+]?\d+(?:\.\d*)?|-?inf|nan/;
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
    my ($shape, $text, undef, $skip) = $label =~ /^(shape: )?(.*?)( \+(\d+))?$/;
    my $line = $shape ? qr/^\Q$text\E (\([\d, ]+\))$/ : $text =~ /:$/ ? qr/^\Q$text\E(.*)/ : qr/^\Q$text\E$/;
    my ($first) = grep { $lines[$_] =~ $line } 0 .. $#lines;
    return if !defined $first;
    return numbers($lines[$first] =~ s/$line/$1/r) if $shape || $text =~ /:$/;
    my @numbers = map { numbers($_) } grep { /^[\s\[\]]*[\[({]/ } @lines[$first + 1 .. $#lines];
    return @numbers[($skip // 0) .. $#numbers];
}

# Says what is wrong with a row, or nothing.
sub fault {
    my ($row, $lines) = @_;
    my ($printed, $output, $note) = @$row{qw(printed output note)};
    my @right = numbers($row->{right});
    my @has   = numbers_after($output, @$lines);
    return 'the row has no right numbers' if !@right;
    return "the program does not print '$output'" if !@has;
    for my $k (0 .. $#right) {
        return "number $k is $right[$k], but the program has " . ($has[$k] // 'nothing')
          if !defined $has[$k] || !agrees($right[$k], $has[$k]);
    }
    my @printed = numbers($printed);
    my $same = @printed == @right && !grep { !agrees($printed[$_], $has[$_]) } 0 .. $#printed;
    return "the document prints what is right, but the note says: $note" if $same && $note =~ /^wrong/;
    return "the document prints $printed, which is not right, but the note does not say "
      . "'wrong (A.12): ...', with the number that appendix A tells it under"
      if !$same && $note !~ /^wrong \(A\.\d+\): /;
    return '';
}

# A row that is lost would not be missed otherwise.
my @rows = Documents::rows();
my $numbers = () = numbers(join ' ', map { $_->{right} } @rows);
open my $file, '<', 'tests/documents.tsv' or die "documents.tsv: $!\n";
is join('', grep { /^# \d+ rows/ } <$file>), '# ' . @rows . " rows, $numbers numbers\n",
  'documents.tsv holds as many as its first lines say';
my %lines;
for my $row (@rows) {
    my $number = $row->{chapter};
    $lines{$number} //= do {
        my ($path) = glob "$build/printed/${number}_*.txt" or die "$row->{at}: no chapter $number\n";
        open my $printed, '<:encoding(UTF-8)', $path or die "$path: $!\n";
        chomp(my @all = <$printed>);
        \@all;
    };
    is fault($row, $lines{$number}), '', "$row->{at}: $row->{document}, $row->{place}";
}

# ---- The check, tried.

my @lines = ('a (2)', '[0.123449000, 2.000000000]', 'b: 32.000000000',
    'c (2)', '[5.000000000, -inf]', 'scores for 7', '[1.000000000]');
for (
    ['0.1234 2', 'a (2)',    '0.1234 2', '', qr/^$/, 'right and printed right'],
    ['32',       'b:',       '32',       '', qr/^$/, 'a number on its label\'s line'],
    ['2',        'shape: a', '2',        '', qr/^$/, 'a size behind its label'],
    ['2',        'a (2) +1', '2',        '', qr/^$/, 'a number skipped'],
    ['33',       'b:',       '32', 'wrong (A.1): a slip', qr/^$/, 'printed wrong, and said so'],
    ['0.1234',   'a (2)',    '0.1236',   '', qr/number 0 is 0\.1236/, 'seen: a wrong right value'],
    ['33',       'b:',       '32',       '', qr/not right/, 'seen: a wrong printed value'],
    ['33',       'b:',       '32', 'wrong: a slip', qr/does not say/, 'seen: no place in appendix A'],
    ['32',       'b:',       '32', 'wrong (A.1): a slip', qr/prints what is right/, 'seen: a false accusation'],
    ['32',       'c:',       '32',       '', qr/does not print 'c:'/, 'seen: an output that is not there'],
    ['5',        'c (2)',    '5 inf',    '', qr/number 1 is inf/, 'seen: a wrong infinity'],
) {
    my ($printed, $output, $right, $note, $message, $name) = @$_;
    like fault({printed => $printed, output => $output, right => $right, note => $note}, \@lines), $message, $name;
}

done_testing;
