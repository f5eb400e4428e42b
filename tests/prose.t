#!/usr/bin/env perl
# Numbers in prose are tests too. A decimal, a percentage or an integer of two
# digits or more must be printed by the chapter, or by an earlier one to which
# its paragraph links, or stand in their code, or be the rounding of one that
# does. Two spans are exempt:
# [69%]{.cited} needs a citation in its paragraph, and [0.3992]{.quoted}, a
# number that another text gets wrong, must stand in documents.tsv, in a row of
# the chapter's. Appendix A tells them all, and may quote any row.

use strict;
use warnings;
use File::Temp qw(tempdir);
use lib 'tools';
use Chapter;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';
# A minus counts where it is one, not a dash between words or a range.
my $MINUS  = qr/(?<![\w.)}{^-])-/;
my $NUMBER = qr/(?<![\w.])(?:$MINUS)?(?:\d+\.\d+%?|\d+%|\d{2,}(?![\w.]*\d))/;

# The numbers in a text: what is printed, or stands in code.
sub numbers_in { return map { 0 + $_ } $_[0] =~ /(?<![\w.])(-?\d+(?:\.\d+)?)/g }

sub code_of {
    my ($chapter) = @_;
    my $code = join "\n", map { $chapter->{lines}[$_] }
      grep { $chapter->{kind}[$_] eq 'code' } 0 .. $#{$chapter->{lines}};
    $code =~ s{/\*.*?\*/|//.*}{}gs;
    $code =~ s/(\d\.?\d*)f\b/$1/g;
    return $code;
}

# Everything that a program prints: plainly, and in its runs with arguments.
sub printed_by {
    my ($chapter, $program) = @_;
    my @text;
    for my $args ('', grep { defined } map { $_->{args} } $chapter->outputs) {
        my ($lines) = Chapter::run($program, $args, DIGITS => 9);
        push @text, @$lines, $args;
    }
    return join "\n", @text;
}

# A number with a minus must be known to be negative; one without may be the
# size of a negative one ("seven below zero").
sub is_known {
    my ($text, @known) = @_;
    my ($minus, $digits, $percent) = $text =~ /^(-?)([\d.]+)(%?)$/;
    my $places = $digits =~ /\.(\d+)/ ? length $1 : 0;
    my ($value, $half) = ($digits, 0.5 * 10**-$places);
    ($value, $half) = ($value / 100, $half / 100) if $percent;
    # An integer that is no percentage counts something: no rounding.
    $half = 0 if !$places && !$percent;
    for my $known (@known) {
        return 1 if abs(($minus ? -$known : abs $known) - $value) <= $half + 2e-6;
    }
    return 0;
}

# The numbers that other texts print, by chapter, from the one list of them;
# under A, all.
sub quoted_in_documents {
    my %quoted;
    open my $file, '<:encoding(UTF-8)', 'tests/documents.tsv' or die "documents.tsv: $!\n";
    while (<$file>) {
        next if /^#|^\s*$/;
        my (undef, undef, $printed, $chapter) = split /\t/;
        next if !defined $chapter;
        push @{$quoted{$_}}, numbers_in($printed) for $chapter eq 'A' ? 'A' : ($chapter, 'A');
    }
    return \%quoted;
}

# The faults of a text: paragraphs of [line number, text]. `known` says which
# numbers a paragraph may use.
sub faults {
    my ($chapter, $known, $quoted) = @_;
    my (@wrong, @paragraph);
    for my $i (0 .. $#{$chapter->{lines}} + 1) {
        my $line = $chapter->{lines}[$i] // '';
        if (($chapter->{kind}[$i] // '') eq 'prose' && $line =~ /\S/) {
            push @paragraph, [$i + 1, $line];
            next;
        }
        push @wrong, faults_of_paragraph($chapter->{path}, $known, $quoted, @paragraph);
        @paragraph = ();
    }
    return @wrong;
}

sub faults_of_paragraph {
    my ($path, $known, $quoted, @lines) = @_;
    my $text  = join "\n", map { $_->[1] } @lines;
    my $cited = $text =~ /\[[^\]]*\@\w|(?<![\w.])\@\w+/;
    my @known = $known->($text);
    my @wrong;
    my $blank = sub { my $n = () = $_[0] =~ /\n/g; "\n" x $n };
    my $place = sub { my $n = () = substr($text, 0, $_[0]) =~ /\n/g; "$path:$lines[$n][0]" };
    # What is no number of the text: spans, addresses, citations, ids.
    while ($text =~ /\[([^\]]*)\]\{\.(cited|quoted)\}/g) {
        my ($span, $kind, $at) = ($1, $2, $-[0]);
        push @wrong, $place->($at) . ": '$span' is marked as cited, but its paragraph cites nothing"
          if $kind eq 'cited' && !$cited;
        next if $kind eq 'cited';
        for my $number (numbers_in($span)) {
            push @wrong, $place->($at) . ": $number is marked as quoted, but documents.tsv "
              . 'has no such number for this chapter'
              if !grep { abs($_ - $number) < 1e-9 } @$quoted;
        }
    }
    $text =~ s/\[[^\]]*\]\{\.(?:cited|quoted)\}/$blank->($&)/ge;
    $text =~ s/\]\([^)]*\)|\{[#.][^}]*\}|\@[\w:-]+|https?:\S+/$blank->($&)/ge;
    $text =~ s/^\*\*Exercise .*?\*\* \(.*?\):/$blank->($&)/ge;
    $text =~ s/make (?:-s )?(?:run|test)-\d+/$blank->($&)/ge;
    $text =~ s/(\d),(?=\d{3}\b)/$1/g; # 50,000 is one number
    while ($text =~ /($NUMBER)/g) {
        my ($number, $at) = ($1, $-[1]);
        push @wrong, $place->($at) . ": $number is neither printed by this chapter or an "
          . 'earlier one that the paragraph links to, nor in their code'
          if !is_known($number, @known);
    }
    return @wrong;
}

# What may be said where: the numbers of the chapter itself, and those of the
# earlier chapters to which the paragraph has a link.
my $quoted = quoted_in_documents();
my @always = numbers_in(code_of(Chapter->load('src/attention.h')));
my (@files, %numbers, %home);
for my $path (sort glob 'chapters/*.c') {
    my $chapter = Chapter->load($path);
    push @files, $chapter;
    $numbers{$path} = [numbers_in(printed_by($chapter, "$build/chapters/$chapter->{name}")),
        numbers_in(code_of($chapter))];
    $home{$_} = $path for join("\n", @{$chapter->{lines}}) =~ /\{#([\w-]+)/g;
    my %earlier = map { $_->{path} => 1 } @files;
    my $known = sub {
        my %linked = map { $_ => 1 } grep { $earlier{$_} } $path,
          map { $home{$_} // () } $_[0] =~ /\]\(#([\w-]+)\)/g;
        return @always, map { @{$numbers{$_}} } keys %linked;
    };
    my @wrong = faults($chapter, $known, $quoted->{$chapter->{number}} // []);
    is "@wrong", '', "every number in the prose of $chapter->{name}" or diag map { "$_\n" } @wrong;
}
my @wrong = faults(Chapter->load('book.md'), sub { @always, map { @$_ } values %numbers }, []);
is "@wrong", '', 'every number in the preface' or diag map { "$_\n" } @wrong;

# ---- The check, tried.

my $folder = tempdir(CLEANUP => 1);
sub seen_in {
    my ($prose) = @_;
    my $path = "$folder/01_a.c";
    open my $file, '>:encoding(UTF-8)', $path or die "$path: $!\n";
    print $file "/*\n$prose\n*/\n";
    close $file or die "$path: $!\n";
    return join "\n", faults(Chapter->load($path), sub { 0.229107246, 32, 1.5205, -0.75 }, [0.3992]);
}
is seen_in('A share of 0.2291, or 22.9%, of 32; 152%. See [](#x-17) and [@smith1999].'), '',
  'roundings, percentages, links and citations are accepted';
is seen_in('It says [0.3992]{.quoted}, and [69%]{.cited} of all [@smith1999].'), '',
  'so are quoted and cited numbers';
like seen_in("One\n0.2292"), qr/:3: 0\.2292 is neither/, 'seen: a wrong last digit';
like seen_in('$0.2281$'),    qr/: 0\.2281 is neither/, 'seen: a wrong digit in mathematics';
like seen_in('`0.2391`'),    qr/: 0\.2391 is neither/, 'seen: a wrong digit in code';
like seen_in('23.1% of it'), qr/: 23\.1% is neither/,  'seen: a wrong percentage';
like seen_in('153% of it'),  qr/: 153% is neither/,    'seen: a wrong whole percentage';
like seen_in('$-0.2291$'),   qr/: -0\.2291 is neither/, 'seen: a wrong sign';
is seen_in('and $-0.7500$, or 0.7500'), '', 'a sign that is right, or left out';
like seen_in('all 32,001'),  qr/: 32001 is neither/,   'seen: a wrong large integer';
like seen_in('all 33'),      qr/: 33 is neither/,      'seen: a wrong integer';
like seen_in('[0.3993]{.quoted}'), qr/: 0\.3993 is marked as quoted/, 'seen: a wrong quotation';
like seen_in('[69%]{.cited}'), qr/cites nothing/, 'seen: a citation left out';

done_testing;
