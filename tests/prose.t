#!/usr/bin/env perl
# Numbers in prose are tests too. A decimal, a percentage or an integer of two
# digits or more must be printed by the chapter, or by an earlier one to which
# its paragraph links, or stand in their code, or be the rounding of one that
# does, or be reckoned on the spot, as in $3 \cdot 50{,}000 = 150{,}000$. Two spans are
# exempt:
# [69%]{.cited} needs a citation in its paragraph, and [0.3992]{.quoted}, a
# number that another text gets wrong, must stand in documents.tsv, in a row of
# the chapter's. Appendix A tells them all, and may quote any row.

use strict;
use warnings;
use File::Temp qw(tempdir);
use Chapter;
use Documents;
use Headers;
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';
# A minus counts where it is one, not a dash between words or a range.
my $MINUS  = qr/(?<![\w.)}{^-])-/;
my $NUMBER = qr/(?<![\w.])(?:$MINUS)?(?:\d+\.\d+%?|\d+%|\d{2,}(?![\w.]*\d))/;

# The numbers in a text: what is printed, or stands in code.
sub numbers_in { return map { 0 + $_ } $_[0] =~ /(?<![\w.])(-?\d+(?:\.\d+)?)/g }

sub numbers_in_code {
    my ($chapter) = @_;
    my $code = join "\n", @{$chapter->{lines}}[$chapter->lines_of('code')];
    return numbers_in($code =~ s{/\*.*?\*/|//.*}{}gsr =~ s/(\d\.?\d*)f\b/$1/gr);
}

# Those that a program prints: plainly, and in its runs with arguments.
sub numbers_printed {
    my ($chapter) = @_;
    return numbers_in(Text::of_file("$build/printed/$chapter->{name}.txt")), map {
        my ($lines) = Chapter::run("$build/chapters/$chapter->{name}", $_, DIGITS => 9);
        numbers_in(join "\n", @$lines, $_);
    } grep { defined } map { $_->{args} } $chapter->outputs;
}

# A number with a minus must be known to be negative; one without may be the
# size of a negative one ("seven below zero").
sub is_known {
    my ($text, @known) = @_;
    my ($minus, $value, $places, $percent) = $text =~ /^(-?)(\d+(?:\.(\d+))?)(%?)$/;
    # An integer that is no percentage counts something: no rounding.
    my $half = defined $places || $percent ? 0.5 * 10**-length($places // '') : 0;
    ($value, $half) = ($value / 100, $half / 100) if $percent;
    return grep { abs(($minus ? -$_ : abs) - $value) <= $half + 2e-6 } @known;
}

# The numbers that other texts print, by chapter, from the one list of them;
# under A, all.
my %quoted;
for my $row (Documents::rows()) {
    push @{$quoted{$_}}, numbers_in($row->{printed}) for 'A', grep { $_ ne 'A' } $row->{chapter};
}

# The value of a formula that has nothing but numbers, or undef.
sub value_of {
    my ($tex) = @_;
    $tex =~ s/(?<=\d)\{,\}(?=\d{3})//g;
    $tex =~ s/\\cdot\b/*/g;
    $tex =~ s/e\^(?:\{([^{}]*)\}|(\d))/'exp(' . ($1 \/\/ $2) . ')'/ge;
    return $tex =~ s/exp//gr =~ m{^[\d\s.*/+()-]+$} && $tex =~ /\d/ ? eval $tex : undef;
}

# Is it a row of equal values, each to the digits in which it is told? Undef if it is
# no such row.
sub holds {
    my ($value, @told) = map { [value_of($_), /\.(\d+)\s*$/ ? length $1 : 0] } split /=/, $_[0];
    return if !@told || grep { !defined $_->[0] } $value, @told;
    return !grep { abs($_->[0] - $value->[0]) > ($_->[1] ? 0.5 * 10**-$_->[1] : 1e-9) } @told;
}

# The faults of a text, by its paragraphs. `known` says which numbers one may use.
sub faults {
    my ($chapter, $known, $quoted) = @_;
    my ($lines, $kind) = @$chapter{qw(lines kind)};
    my $prose = join "\n", map { $kind->[$_] eq 'prose' ? $lines->[$_] =~ s/^\s+$//r : '' } 0 .. $#$lines;
    my @wrong;
    while ($prose =~ /((?:.+\n?)+)/g) {
        my $first = 1 + substr($prose, 0, $-[0]) =~ tr/\n//;
        push @wrong, map {"$chapter->{path}:@{[$first + $_->[0]]}: $_->[1]"} faults_of_paragraph("$1", $known, $quoted);
    }
    return @wrong;
}

# Each [line in the paragraph, what is wrong].
sub faults_of_paragraph {
    my ($text, $known, $quoted) = @_;
    return if $text =~ /^1\. .*\{state="/s; # the things to try: tests/web/workbench.t holds them
    my $cited = $text =~ /\[[^\]]*\@\w|(?<![\w.])\@\w+/;
    my @known = $known->($text);
    my @wrong;
    my $fault = sub { push @wrong, [substr($text, 0, $_[0]) =~ tr/\n//, $_[1]] };
    while ($text =~ /\[([^\]]*)\]\{\.(cited|quoted)\}/g) {
        my ($span, $kind, $at) = ($1, $2, $-[0]);
        $fault->($at, "'$span' is marked as cited, but its paragraph cites nothing")
          if $kind eq 'cited' && !$cited;
        for my $number ($kind eq 'quoted' ? numbers_in($span) : ()) {
            $fault->($at, "$number is marked as quoted, but documents.tsv has no such number for "
              . 'this chapter') if !grep { abs($_ - $number) < 1e-9 } @$quoted;
        }
    }
    # What is no number of the text: spans, addresses, citations, ids, commands.
    $text =~ s/$_/$& =~ tr{\n}{}cdr/ge for qr/\[[^\]]*\]\{\.(?:cited|quoted)\}/,
      qr/\]\([^)]*\)|\{[#.][^}]*\}|\@[\w:-]+|https?:\S+/, qr/^\*\*Exercise .*?\*\* \(.*?\):/,
      qr/make (?:-s )?(?:run|test)-\d+/;
    while ($text =~ /\$([^\$]+)\$/g) {
        my ($from, $formula) = ($-[0], $1);
        my $holds = holds($formula) // next;
        $fault->($from, "$formula does not hold") if !$holds;
        substr($text, $from, length($formula) + 2) =~ s/[^\n]/ /g;
    }
    $text =~ s/(\d),(?=\d{3}\b)/$1/g; # 50,000 is one number
    while ($text =~ /($NUMBER)/g) {
        $fault->($-[1], "$1 is neither printed by this chapter or an earlier one that the paragraph "
          . 'links to, nor in their code') if !is_known($1, @known);
    }
    return @wrong;
}

# What may be said where: the numbers of the chapter itself, and those of the
# earlier chapters, and of appendix B, to which the paragraph has a link.
my @always = numbers_in_code(Headers->load('src/attention.h'));
my (%numbers, %home);
sub say_numbers {
    my ($path) = @_;
    my $chapter = Chapter->load($path);
    $numbers{$path} = [numbers_printed($chapter), numbers_in_code($chapter)];
    $home{$_} = $path for join("\n", @{$chapter->{lines}}) =~ /\{#([\w-]+)/g;
    return $chapter;
}
say_numbers($_) for glob 'chapters/B_*.c'; # a chapter may rest on it
for my $path (sort glob 'chapters/*.c') {
    my $chapter = say_numbers($path);
    my $known = sub {
        my %linked = map { $_ => 1 } $path, map { $home{$_} // () } $_[0] =~ /\]\(#([\w-]+)\)/g;
        return @always, map { @{$numbers{$_}} } keys %linked;
    };
    is join("\n", faults($chapter, $known, $quoted{$chapter->{number}} // [])), '',
      "every number in the prose of $chapter->{name}";
}
is join("\n", faults(Chapter->load('book.md'), sub { @always, map { @$_ } values %numbers }, [])), '',
  'every number in the preface';

# ---- The checks, tried: what is right, the chapters have.

my $path = tempdir(CLEANUP => 1) . '/01_a.c';
for (
    ['$3 \cdot 77 = 232$' => qr/:2: 3 \\cdot 77 = 232 does not hold/],
    ['$e^4 = 54.5$'  => qr/:2: e\^4 = 54\.5 does not hold/],
    ['$x = 77$'      => qr/:2: 77 is neither/],
    ["One\n0.2292" => qr/:3: 0\.2292 is neither/],
    ['$0.2281$'    => qr/:2: 0\.2281 is neither/],
    ['`0.2391`'    => qr/:2: 0\.2391 is neither/],
    ['23.1% of it' => qr/:2: 23\.1% is neither/],
    ['153% of it'  => qr/:2: 153% is neither/],
    ['$-0.2291$'   => qr/:2: -0\.2291 is neither/],
    ['all 32,001'  => qr/:2: 32001 is neither/],
    ['all 33'      => qr/:2: 33 is neither/],
    ['[0.3993]{.quoted}' => qr/:2: 0\.3993 is marked as quoted/],
    ["One\n[69%]{.cited}" => qr/:3: '69%' is marked as cited, but its paragraph cites nothing/],
) {
    my ($prose, $wrong) = @$_;
    my $chapter = Chapter->load(Chapter::save($path, '/*', $prose, '*/'));
    like join("\n", faults($chapter, sub { 0.229107246, 32, 1.5205, -0.75 }, [0.3992])), $wrong,
      "seen: $prose";
}

done_testing;
