#!/usr/bin/env perl
# The page "Where your tutorial is" of book.md leads a reader from each of the
# five tutorials to this book. Each has its section,
#
#   ## Title {#where-word}
#
# which cites it and has a table of three columns: there, here, errata. Its
# links lead to ids that exist. A chapter that has a row of a tutorial in
# documents.tsv is linked in that tutorial's section, and so is an erratum.

use strict;
use warnings;
use lib 'tools';
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);

# How documents.tsv names what it quotes, and the keys of book.bib. What has no
# key is no tutorial.
my @names = (
    ['HackTricks (de)'            => 'hacktricks'],
    ['Tokens to attention (zh)'   => 'tokens2transformer'],
    ['Raschka 2024, magazine'     => 'raschka2024magazine'],
    ['Self-attention, retold (zh), and Ma 2026' => 'selfattention2025', 'ma2026'],
    ['Self-attention, retold (zh)' => 'selfattention2025'],
    ['Ma 2026'                    => 'ma2026'],
    ['LLMs-from-scratch'], ['PyTorch'],
);

sub keys_of {
    my ($document) = @_;
    for (@names) {
        my ($name, @keys) = @$_;
        return (1, @keys) if index($document, $name) == 0;
    }
    return 0;
}

# The page: for each key its rows, each [line, there, here, errata].
sub sections_of {
    my (@lines) = @_;
    my ($inside, %section, $rows);
    for my $i (0 .. $#lines) {
        my $line = $lines[$i];
        $inside = $line =~ /\{#where\}$/ if $line =~ /^# /;
        next if !$inside;
        $rows = [] if $line =~ /^## /;
        next if !$rows;
        $section{$1} //= $rows while $line !~ /^\|/ && $line =~ /\[\@(\w+)\]/g;
        next if $line !~ /^\| (?!There )/;
        my @cells = split /\s*\|\s*/, $line, -1;
        push @$rows, [$i + 1, @cells[1 .. $#cells - 1]];
    }
    return \%section;
}

sub links_in { my @ids = $_[0] =~ /\]\(#([\w-]+)\)/g; return @ids }

# What is wrong with the sections, given the ids that exist, each with the
# number of its chapter, and the rows of documents.tsv, each [line, document,
# chapter, note].
sub faults {
    my ($section, $chapter_of, @documents) = @_;
    my (@wrong, %linked, %seen);
    for my $key (sort keys %$section) {
        push @wrong, "the section of \@$key has no rows" if !@{$section->{$key}};
        for (@{$section->{$key}}) {
            my ($line, @cells) = @$_;
            my $place = "book.md:$line";
            if (@cells != 3) {
                push @wrong, "$place: a row has three columns, there, here, errata";
                next;
            }
            push @wrong, "$place: the row leads nowhere" if !links_in($cells[1]);
            for my $id (map { links_in($_) } @cells) {
                push @wrong, "$place: there is no #$id" if !defined $chapter_of->{$id};
                $linked{$key}{$chapter_of->{$id} // ''} = $seen{$chapter_of->{$id} // ''} = 1;
                $linked{$key}{$id} = 1;
            }
            my %erratum = reverse $cells[2] =~ /\[([^\]]*)\]\(#([^)]*)\)/g;
            for my $id (sort keys %erratum) {
                push @wrong, "$place: $erratum{$id} is not #$id"
                  if "errata-$erratum{$id}" ne $id =~ s/errata-/errata-A./r;
            }
        }
    }
    for (@documents) {
        my ($line, $document, $chapter, $note) = @$_;
        my ($known, @keys) = keys_of($document);
        my $place = "documents.tsv:$line";
        push @wrong, "$place: tests/where.t does not know '$document'" if !$known;
        for my $key (@keys) {
            if (!$section->{$key}) { push @wrong, "$place: no section for \@$key"; next }
            push @wrong, "$place: the section of \@$key does not lead to chapter $chapter"
              if !$linked{$key}{$chapter};
            push @wrong, "$place: the section of \@$key does not lead to A.$1"
              if $note =~ /^wrong \(A\.(\d+)\)/ && !$linked{$key}{"errata-$1"};
        }
    }
    my %chapter = map { $_ => 1 } grep { /^\d/ } values %$chapter_of;
    for my $number (sort keys %chapter) {
        push @wrong, "no row leads to chapter $number" if !$seen{$number};
    }
    return @wrong;
}

# Every id of the book, with the number of its chapter, or '' in book.md.
sub ids_of {
    my (@paths) = @_;
    my %chapter_of;
    for my $path (@paths) {
        my $chapter = Chapter->load($path);
        my $number  = $path =~ /\.md$/ ? '' : $chapter->{number};
        my $prose   = join "\n", map { $chapter->{lines}[$_] }
          grep { $chapter->{kind}[$_] eq 'prose' } 0 .. $#{$chapter->{lines}};
        $chapter_of{$_} = $number for $prose =~ /\{#([\w-]+)/g;
        $chapter_of{'exercise-' . $_->{id} =~ s/\./-/r} = $number for @{$chapter->{exercises}};
    }
    return \%chapter_of;
}

my $book    = Chapter->load('book.md');
my $section = sections_of(@{$book->{lines}});
my $ids     = ids_of('book.md', sort glob 'chapters/*.c');
my @documents;
open my $file, '<:encoding(UTF-8)', 'tests/documents.tsv' or die "documents.tsv: $!\n";
while (<$file>) {
    chomp;
    my @columns = split /\t/, $_, -1;
    push @documents, [$., @columns[0, 3, 6]] if !/^#/ && @columns == 7;
}
is join(' ', sort keys %$section),
  'hacktricks ma2026 raschka2024magazine selfattention2025 tokens2transformer',
  'each tutorial has its section';
cmp_ok scalar(@documents), '>', 0, 'documents.tsv quotes them';
is join("\n", faults($section, $ids, @documents)), '', 'and every row leads to its place';
my $page = join "\n", @{$book->{lines}};
my ($glossary) = $page =~ /^(# Glossary .*?)^# /ms;
is join(' ', grep { !defined $ids->{$_} } links_in($page)), '', 'so do all links of book.md';
is join("\n", grep { /^\| (?!English)/ && !/^\| \[[^\]]+\]\(#[\w-]+\) \|/ } split /\n/, $glossary // 'none'),
  '', 'and each term of the glossary to where it is introduced';
my %told = map { $_ => 1 } map { links_in($_) } $page;
is join(' ', grep { /^errata-\d/ && !$told{$_} } sort keys %$ids), '', 'no erratum is left out';

# ---- The check, tried.

my @good = ('# Where {#where}', '', '## One {#where-one}', '', 'A page [@ma2026].', '',
    '| There | Here | Errata |', '|:---|:---|:---|', '| a | [](#x) | [A.2](#errata-2) |',
    '| **b** | [](#y-z); [](#x) | |', '', '# Sources');
my $known = {x => '01', 'y-z' => '02', 'errata-2' => 'A', 'where-one' => ''};
sub seen_in {
    my ($lines, @rows) = @_;
    return join "\n", faults(sections_of(@$lines), $known, @rows);
}
sub changed { my ($from, $to) = @_; return [map { s/\Q$from\E/$to/r } @good] }
is seen_in(\@good, [9, 'Ma 2026', '02', 'wrong (A.2): a slip']), '', 'rows that lead to their places';
is seen_in(\@good, [9, 'PyTorch, issue 7', '02', '']), '', 'what is no tutorial has no section';
like seen_in(changed('[](#x) |', '[](#w) |')), qr/:9: there is no #w/,      'seen: a link that leads nowhere';
like seen_in(changed('[](#x) |', 'here |')),   qr/:9: the row leads nowhere/, 'seen: a row without a link';
like seen_in(changed('A.2]', 'A.3]')),         qr/:9: A\.3 is not #errata-2/, 'seen: an erratum under another number';
like seen_in(changed('y-z', 'x')),             qr/no row leads to chapter 02/, 'seen: a chapter left out';
like seen_in(changed('| a |', '| a | b |')),   qr/:9: a row has three/,     'seen: a fourth column';
like seen_in(changed('@ma2026', '@ma2025'), [9, 'Ma 2026', '01', '']), qr/:9: no section for \@ma2026/,
  'seen: a tutorial without a section';
like seen_in(\@good, [9, 'Ma 2026', '03', '']), qr/does not lead to chapter 03/, 'seen: a place left out';
like seen_in(\@good, [9, 'Ma 2026', '01', 'wrong (A.4): a slip']), qr/does not lead to A\.4/,
  'seen: an erratum left out';
like seen_in(\@good, [9, 'Another', '01', '']), qr/does not know 'Another'/, 'seen: a tutorial that is new';

done_testing;
