#!/usr/bin/env perl
# Appendix A tells what the tutorials get wrong. Each erratum is a section
#
#   ### A.12 Title {#errata-12}
#
# and they are numbered from 1 on. A row of documents.tsv that is wrong names
# its erratum in the note, "wrong (A.12): ...", and what the document prints is
# quoted there, [0.3992]{.quoted}: its numbers, or its words if it has none.

use strict;
use warnings;
use Chapter;
use Documents;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);

sub numbers { return join ',', map { 0 + $_ } $_[0] =~ /(?<![\w.])([-+]?\d+(?:\.\d+)?)(?!\w)/g }

# Do the numbers, or the words, that are printed stand in the quote?
sub is_in {
    my ($printed, $quote) = @_;
    my $wanted = numbers($printed);
    return $wanted eq '' ? index($quote =~ s/\s+/ /gr, $printed) >= 0
      : index(',' . numbers($quote) . ',', ",$wanted,") >= 0;
}

# What is wrong with the appendix, given its lines and the rows.
sub faults {
    my ($lines, @rows) = @_;
    my (@text, @wrong, $inside);
    $text[0] = '';
    for my $i (0 .. $#$lines) {
        my $line = $lines->[$i];
        $inside = $line =~ /^###/ if $line =~ /^#/;
        if ($inside && $line =~ /^#/) {
            my $right = '### A.' . @text . ' Title {#errata-' . @text . '}';
            my $form  = quotemeta($right) =~ s/Title/\\S.*/r;
            push @wrong, "A_errata.c:" . ($i + 1) . ": '$right' is needed, not '$line'"
              if $line !~ /^$form$/;
            push @text, '';
        }
        $text[-1] .= "$line\n" if $inside;
    }
    for my $row (@rows) {
        my ($number) = $row->{note} =~ /^wrong \(A\.(\d+)\)/ or next;
        my @quotes = ($text[$number] // '') =~ /\[([^\]]*)\]\{\.quoted\}/g;
        push @wrong, "$row->{at}: A.$number does not quote '$row->{printed}'"
          if !grep { is_in($row->{printed}, $_) } @quotes;
    }
    return join "\n", @wrong;
}

my @rows = Documents::rows();
my $appendix = Chapter->load('chapters/A_errata.c');
my @prose = map { $appendix->{kind}[$_] eq 'prose' ? $appendix->{lines}[$_] : '' }
  0 .. $#{$appendix->{lines}};
is faults(\@prose, @rows), '',
  'errata have their numbers and anchors, and tell what is wrong';
cmp_ok scalar(grep { $_->{note} =~ /^wrong/ } @rows), '>', 0, 'documents.tsv has wrong numbers';

# ---- The check, tried.

my @good = ('### A.1 One {#errata-1}', 'It has [0.3992, 0.3858,', '0.8610]{.quoted}.', '', '## Other',
    '[7]{.quoted}', '### A.2 Two {#errata-2}', 'It says [a sum]{.quoted} and [3 heads]{.quoted}.');
sub tried { return faults(\@good, {at => 'row 9', printed => $_[0], note => $_[1]}) }
is tried('[0.3992, 0.3858, 0.861]', 'wrong (A.1): a slip'), '', 'a list that is quoted';
is tried('0.3858', 'wrong (A.1): a slip'), '', 'one number of it';
is tried('a sum', 'wrong (A.2): a slip'), '', 'words that are quoted';
is tried('0.5', ''), '', 'what is right need not be told';
for (['0.5', 3, 'an erratum that is not there'], ['0.3857', 1, 'another number'],
     ['0.3992', 2, 'a number told elsewhere'], ['[0.3992, 0.8610]', 1, 'a list with a gap'],
     ['7', 1, 'a number told in no erratum'], ['a product', 2, 'other words']) {
    my ($printed, $number, $name) = @$_;
    is tried($printed, "wrong (A.$number): a slip"), "row 9: A.$number does not quote '$printed'", "seen: $name";
}
for ([3, 'an erratum told twice', @good[0, 6, 0]], [1, 'a number left out', $good[6]],
     [1, 'an anchor of another', '### A.1 One {#errata-2}'], [1, 'no number', '### One {#errata-1}']) {
    my ($line, $name, @lines) = @$_;
    is faults(\@lines), "A_errata.c:$line: '### A.$line Title {#errata-$line}' is needed, not '$lines[-1]'",
      "seen: $name";
}

done_testing;
