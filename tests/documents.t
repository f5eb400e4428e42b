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
# must not, and appendix A tells in A.12 what is wrong.

use strict;
use warnings;
use Chapter;
use Documents;
use Test::More;
use Text;

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
is join('', Text::of_file('tests/documents.tsv') =~ /^# \d+ rows.*/mg), '# ' . @rows . " rows, $numbers numbers",
  'documents.tsv holds as many as its first lines say';
my %lines;
for my $row (@rows) {
    my $number = $row->{chapter};
    $lines{$number} //= do {
        my ($path) = glob "$build/printed/${number}_*.txt" or die "$row->{at}: no chapter $number\n";
        [split /\n/, Text::of_file($path)];
    };
    is fault($row, $lines{$number}), '', "$row->{at}: $row->{document}, $row->{place}";
}

# ---- The check, tried: what is right, the rows above have.

my @lines = ('a (2)', '[0.123449000, 2.000000000]', 'b: 32.000000000',
    'c (2)', '[5.000000000, -inf]', 'scores for 7', '[1.000000000]');
for (
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

# ---- Appendix A tells what the tutorials get wrong. Each erratum is a section
#
#   ### A.12 Title {#errata-12}
#
# and they are numbered from 1 on. A row of documents.tsv that is wrong names
# its erratum in the note, "wrong (A.12): ...", and what the document prints is
# quoted there, [0.3992]{.quoted}: its numbers, or its words if it has none.

# Do the numbers, or the words, that are printed stand in the quote?
sub listed { return join ',', map { 0 + $_ } numbers($_[0]) }
sub is_in {
    my ($printed, $quote) = @_;
    my $wanted = listed($printed);
    return $wanted eq '' ? index($quote =~ s/\s+/ /gr, $printed) >= 0
      : index(',' . listed($quote) . ',', ",$wanted,") >= 0;
}

# What is wrong with the appendix, given its lines and the rows.
sub faults_of_errata {
    my ($lines, @rows) = @_;
    my (@text, @wrong);
    my $prose = join '', map {"$_\n"} @$lines;
    while ($prose =~ /^(###.*)\n((?:(?!#).*\n)*)/mg) {
        my ($heading, $line) = ($1, 1 + substr($prose, 0, $-[0]) =~ tr/\n//);
        my $n = push @text, $2;
        push @wrong, "A_errata.c:$line: '### A.$n Title {#errata-$n}' is needed, not '$heading'"
          if $heading !~ /^### A\.$n \S.* \{#errata-$n\}$/;
    }
    for my $row (@rows) {
        my ($number) = $row->{note} =~ /^wrong \(A\.([1-9]\d*)\)/ or next;
        my @quotes = ($text[$number - 1] // '') =~ /\[([^\]]*)\]\{\.quoted\}/g;
        push @wrong, "$row->{at}: A.$number does not quote '$row->{printed}'"
          if !grep { is_in($row->{printed}, $_) } @quotes;
    }
    return join "\n", @wrong;
}

my $appendix = Chapter->load('chapters/A_errata.c');
my @prose = map { $appendix->{kind}[$_] eq 'prose' ? $appendix->{lines}[$_] : '' }
  0 .. $#{$appendix->{lines}};
is faults_of_errata(\@prose, @rows), '',
  'errata have their numbers and anchors, and tell what is wrong';

my @errata = ('### A.1 One {#errata-1}', 'It has [0.3992, 0.3858,', '0.8610]{.quoted}.', '', '## Other',
    '[7]{.quoted}', '### A.2 Two {#errata-2}', 'It says [a sum]{.quoted} and [3 heads]{.quoted}.');
sub tried { return faults_of_errata(\@errata, {at => 'row 9', printed => $_[0], note => $_[1]}) }
for (['0.5', 3, 'an erratum that is not there'], ['0.3992', 2, 'a number told elsewhere'],
     ['[0.3992, 0.8610]', 1, 'a list with a gap'], ['a product', 2, 'other words']) {
    my ($printed, $number, $name) = @$_;
    is tried($printed, "wrong (A.$number): a slip"), "row 9: A.$number does not quote '$printed'", "seen: $name";
}
for ([3, 'an erratum told twice', @errata[0, 6, 0]], [1, 'a number left out', $errata[6]],
     [1, 'an anchor of another', '### A.1 One {#errata-2}'], [1, 'no number', '### One {#errata-1}']) {
    my ($line, $name, @lines) = @$_;
    is faults_of_errata(\@lines), "A_errata.c:$line: '### A.$line Title {#errata-$line}' is needed, not '$lines[-1]'",
      "seen: $name";
}

# ---- book.md leads to every erratum, and each term of its glossary to its place.

my $page = Text::of_file('book.md');
my %told = map { $_ => 1 } $page =~ /\]\(#(errata-\d+)\)/g;
is join(' ', grep { !$told{$_} } join('', @prose) =~ /\{#(errata-\d+)\}/g), '', 'no erratum is left out';
my ($glossary) = $page =~ /^(# Glossary .*?)^# /ms;
is join("\n", grep { /^\| (?!English)/ && !/^\| \[[^\]]+\]\(#[\w-]+\) \|/ } split /\n/, $glossary // '| none'),
  '', 'each term of the glossary leads to where it is introduced';

done_testing;
