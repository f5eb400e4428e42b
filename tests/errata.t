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
use File::Temp qw(tempdir);
use lib 'tools';
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $appendix = 'chapters/A_errata.c';

sub numbers { return map { 0 + $_ } $_[0] =~ /(?<![\w.])([-+]?\d+(?:\.\d+)?)(?!\w)/g }

# The errata of the appendix by number, each with what it quotes; and what is
# wrong with their headings.
sub errata_of {
    my ($chapter) = @_;
    my (%text, @wrong, $now);
    my $last = 0;
    for my $i (0 .. $#{$chapter->{lines}}) {
        next if $chapter->{kind}[$i] ne 'prose';
        my $line = $chapter->{lines}[$i];
        if ($line =~ /^#/) { undef $now }
        if ($line =~ /^###/) {
            my $place = "$chapter->{path}:" . ($i + 1);
            if ($line !~ /^### A\.(\d+) \S.* \{#errata-\1\}$/) {
                push @wrong, "$place: an erratum is '### A.12 Title {#errata-12}': not '$line'";
                next;
            }
            $now = $1;
            push @wrong, "$place: A.$now is told twice" if $text{$now};
            push @wrong, "$place: A.$now stands where A." . ($last + 1) . ' is expected'
              if !$text{$now} && $now != $last + 1;
            $last = $now;
        }
        $text{$now} .= "$line\n" if $now;
    }
    my %quotes = map { $_ => [$text{$_} =~ /\[([^\]]*)\]\{\.quoted\}/g] } keys %text;
    return (\%quotes, @wrong);
}

# Does one of the quotes hold the numbers, or the words, that are printed?
sub is_quoted {
    my ($printed, @quotes) = @_;
    my $wanted = join ',', numbers($printed);
    return 0 + grep { index(',' . join(',', numbers($_)) . ',', ",$wanted,") >= 0 } @quotes
      if $wanted ne '';
    return 0 + grep { s/\s+/ /gr =~ /\Q$printed\E/ } @quotes;
}

# What is wrong with rows of documents.tsv, each [line, printed, note].
sub faults {
    my ($quotes, @rows) = @_;
    my @wrong;
    for (@rows) {
        my ($line, $printed, $note) = @$_;
        next if $note !~ /^wrong/;
        my $place = "documents.tsv:$line";
        if ($note !~ /^wrong \(A\.(\d+)\): /) {
            push @wrong, "$place: what is wrong is told in appendix A, and the note begins "
              . "'wrong (A.12): ', not '" . substr($note, 0, 15) . "'";
        }
        elsif (!$quotes->{$1}) { push @wrong, "$place: there is no erratum A.$1" }
        elsif (!is_quoted($printed, @{$quotes->{$1}})) {
            push @wrong, "$place: A.$1 does not quote '$printed'";
        }
    }
    return @wrong;
}

my @rows;
open my $file, '<:encoding(UTF-8)', 'tests/documents.tsv' or die "documents.tsv: $!\n";
while (<$file>) {
    chomp;
    my @columns = split /\t/, $_, -1;
    push @rows, [$., @columns[2, 6]] if !/^#/ && @columns == 7;
}
my ($quotes, @wrong) = errata_of(Chapter->load($appendix));
is join("\n", @wrong), '', 'each erratum has its number and its anchor';
cmp_ok scalar(grep { $_->[2] =~ /^wrong/ } @rows), '>', 0, 'documents.tsv has wrong numbers';
is join("\n", faults($quotes, @rows)), '', 'each of them is told in appendix A';

# ---- The check, tried.

my $folder = tempdir(CLEANUP => 1);
sub load {
    my (@lines) = @_;
    my $path = "$folder/A_errata.c";
    open my $out, '>:encoding(UTF-8)', $path or die "$path: $!\n";
    print $out map { "$_\n" } '/*', @lines, '*/';
    close $out or die "$path: $!\n";
    return errata_of(Chapter->load($path));
}
sub seen_in { my (undef, @wrong) = load(@_); return join "\n", @wrong }

my @good = ('### A.1 One {#errata-1}', 'It has [0.3992, 0.3858,', '0.8610]{.quoted}.', '',
    '## Other', '', '### A.2 Two {#errata-2}', 'It says [a sum]{.quoted} and [3 heads]{.quoted}.');
is seen_in(@good), '', 'errata in order';
like seen_in(@good[0, 6, 0]),        qr/:4: A\.1 is told twice/,   'seen: an erratum told twice';
like seen_in($good[6]),              qr/:2: A\.2 stands where A\.1 is/,    'seen: a number left out';
like seen_in('### A.1 One {#errata-2}'), qr/:2: an erratum is/,    'seen: an anchor of another';
like seen_in('### One {#errata-1}'), qr/:2: an erratum is/,        'seen: no number';

my ($known) = load(@good);
sub tried { return join "\n", faults($known, [9, @_]) }
is tried('[0.3992, 0.3858, 0.861]', 'wrong (A.1): a slip'), '', 'a list that is quoted';
is tried('0.3858', 'wrong (A.1): a slip'), '', 'one number of it';
is tried('a sum', 'wrong (A.2): a slip'), '', 'words that are quoted';
is tried('0.5', ''), '', 'what is right need not be told';
like tried('0.5', 'wrong (A.3): a slip'), qr/no erratum A\.3/, 'seen: an erratum that is not there';
like tried('0.3857', 'wrong (A.1): a slip'), qr/A\.1 does not quote '0\.3857'/, 'seen: another number';
like tried('0.3992', 'wrong (A.2): a slip'), qr/A\.2 does not quote/, 'seen: a number told elsewhere';
like tried('[0.3992, 0.8610]', 'wrong (A.1): a slip'), qr/does not quote/, 'seen: a list with a gap';
like tried('a product', 'wrong (A.2): a slip'), qr/does not quote/, 'seen: other words';
like tried('0.3992', 'wrong: a slip'), qr/begins 'wrong \(A\.12\)/, 'seen: no erratum named';

done_testing;
