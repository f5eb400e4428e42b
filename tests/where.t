#!/usr/bin/env perl
# The page "Where your tutorial is" of book.md leads a reader from each of the
# five tutorials to this book. Each has its section,
#
#   ## Title {#where-word}
#
# which cites it and has a table of three columns: there, here, errata. A
# chapter that has a row of a tutorial in documents.tsv is linked in that
# tutorial's section, and so is an erratum. (That links lead to ids that exist
# is the weaver's business.)

use strict;
use warnings;
use Chapter;
use Documents;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);

# How documents.tsv names what it quotes, and the keys of book.bib. What has no
# key is no tutorial.
my @names = (
    [qr/^HackTricks \(de\)/           => 'hacktricks'],
    [qr/^Tokens to attention \(zh\)/  => 'tokens2transformer'],
    [qr/^Raschka 2024, magazine/      => 'raschka2024magazine'],
    [qr/^Self-attention, retold \(zh\), and Ma 2026/ => 'selfattention2025', 'ma2026'],
    [qr/^Self-attention, retold \(zh\)/ => 'selfattention2025'],
    [qr/^Ma 2026/                     => 'ma2026'],
    [qr/^(?:LLMs-from-scratch|PyTorch)/],
);

# What is wrong with the page, given the chapter of each id, and the rows of
# documents.tsv.
sub faults {
    my ($lines, $chapter_of, @rows) = @_;
    my (@wrong, %linked, $page, $keys);
    for my $i (0 .. $#$lines) {
        my ($line, $at) = ($lines->[$i], 'book.md:' . ($i + 1));
        if ($line =~ /^# /) { $page = $line =~ /\{#where\}$/; $keys = undef }
        $keys = [] if $page && $line =~ /^## /;
        next if !$keys || $line =~ /^\|(?: There |:)/;
        if ($line !~ /^\|/) { push @$keys, $line =~ /\[\@(\w+)\]/g; next }
        my (undef, @cells) = split /\s*\|\s*/, $line;
        push @wrong, "$at: a row has three columns, there, here, errata" if $line !~ /^(?:\|[^|]*){3}\|$/;
        push @wrong, "$at: the row leads nowhere" if ($cells[1] // '') !~ /\]\(#/;
        for my $key (@$keys) {
            $linked{$key}{'chapter ' . ($chapter_of->{$_} // '')} = 1 for $line =~ /\]\(#([\w-]+)\)/g;
        }
        my %erratum = reverse(($cells[2] // '') =~ /\[([^\]]*)\]\(#([^)]*)\)/g);
        for my $id (sort keys %erratum) {
            push @wrong, "$at: $erratum{$id} is not #$id" if $id ne $erratum{$id} =~ s/^A\./errata-/r;
            $linked{$_}{$erratum{$id}} = 1 for @$keys;
        }
    }
    for my $row (@rows) {
        my ($name) = grep { $row->{document} =~ $_->[0] } @names;
        push @wrong, "$row->{at}: tests/where.t does not know '$row->{document}'" if !$name;
        for my $key ($name ? @$name[1 .. $#$name] : ()) {
            push @wrong, map { "$row->{at}: no row of \@$key leads to $_" } grep { !$linked{$key}{$_} }
              "chapter $row->{chapter}", $row->{note} =~ /^wrong \((A\.\d+)\)/;
        }
    }
    return join "\n", @wrong;
}

my $book = Chapter->load('book.md');
my %chapter_of;
for my $chapter (map { Chapter->load($_) } glob 'chapters/*.c') {
    $chapter_of{$_} = $chapter->{number} for join("\n", @{$chapter->{lines}}) =~ /\{#([\w-]+)/g,
      map { 'exercise-' . $_->{id} =~ s/\./-/r } @{$chapter->{exercises}};
}
is faults($book->{lines}, \%chapter_of, Documents::rows()), '', 'tutorials lead to their places';
my $page = join "\n", @{$book->{lines}};
my %told = map { $_ => 1 } $page =~ /\]\(#(errata-\d+)\)/g;
is join(' ', grep { /^errata-\d/ && !$told{$_} } sort keys %chapter_of), '', 'no erratum is left out';
my ($glossary) = $page =~ /^(# Glossary .*?)^# /ms;
is join("\n", grep { /^\| (?!English)/ && !/^\| \[[^\]]+\]\(#[\w-]+\) \|/ } split /\n/, $glossary // '| none'),
  '', 'each term of the glossary leads to where it is introduced';

# ---- The check, tried.

my @good = ('# Where {#where}', '', '## One {#where-one}', '', 'A page [@ma2026].', '',
    '| There | Here | Errata |', '|:---|:---|:---|', '| a | [](#x) | [A.2](#errata-2) |',
    '| **b** | [](#y-z); [](#x) | |', '', '# Sources', '[@hacktricks]');
for (
    [qr/^$/, 'rows that lead to their places', '', '', '01', 'wrong (A.2): a slip'],
    [qr/^$/, 'what is no tutorial has no section', '', '', '03', '', 'PyTorch, issue 7'],
    [qr/:9: the row leads nowhere/,     'a row without a link', '[](#x) |', 'here |', '02'],
    [qr/:9: A\.3 is not #errata-2/,     'an erratum under another number', 'A.2]', 'A.3]', '01'],
    [qr/:9: a row has three/,           'a fourth column', '| a |', '| a | [](#x) |', '01'],
    [qr/^row 9: .*\@ma2026 leads to chapter 01/, 'a tutorial without a section', '@ma2026', '@ma2025', '01'],
    [qr/^row 9: .*leads to chapter 02/, 'a link that leads elsewhere', 'y-z', 'x', '02'],
    [qr/^row 9: .*leads to chapter 03/, 'a place left out', '', '', '03'],
    [qr/^row 9: .*leads to A\.4/,       'an erratum left out', '', '', '01', 'wrong (A.4): a slip'],
    [qr/^row 9: .*does not know 'New'/, 'a tutorial that is new', '', '', '01', '', 'New'],
) {
    my ($message, $name, $from, $to, $chapter, $note, $document) = @$_;
    like faults([map { s/\Q$from\E/$to/r } @good], {x => '01', 'y-z' => '02'},
        {at => 'row 9', chapter => $chapter, note => $note // '', document => $document // 'Ma 2026'}),
      $message, $message eq qr/^$/ ? $name : "seen: $name";
}

done_testing;
