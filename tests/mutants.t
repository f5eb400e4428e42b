#!/usr/bin/env perl
# The planted mistakes fit their chapters, every exercise has some, and a list
# that says nothing clear is refused. `make mutants` tries them.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use lib 'tools';
use Chapter;
use Mutants;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $FEWEST = 5; # for each exercise

my @mutants = Mutants::load('tests/mutants.txt');
cmp_ok scalar @mutants, '>', 0, 'mistakes are listed';
my (%chapter, %count, @wrong);
for my $mutant (@mutants) {
    my $chapter = $chapter{$mutant->{chapter}} //= eval { Mutants::chapter_of($mutant) };
    my @lines = $chapter ? eval { Mutants::plant($mutant, $chapter) } : ();
    push @wrong, !@lines ? $@
      : "@lines" eq "@{$chapter->{lines}}" ? "$mutant->{place}: changes nothing\n" : ();
    $count{$mutant->{function}}++;
}
is join('', @wrong), '', 'each fits its chapter in one place';
for my $chapter (map { $chapter{$_} } sort keys %chapter) {
    is join(', ', grep { ($count{$_} // 0) < $FEWEST } grep { defined }
          map { $_->{function} } @{$chapter->{exercises}}), '',
      "$chapter->{name}: every exercise has $FEWEST at least";
}

# ---- What is refused.

my $folder = tempdir(CLEANUP => 1);
my $heading = "02 softmax: a mistake\n";
my @refused = (
    ["- a\n+ b\n", qr/:1: a heading is needed first/],
    ["$heading\n", qr/:1: no line with - /],
    ["$heading+ b\n", qr/:1: no line with - /],
    ["$heading- a\n$heading- a\n", qr/:3: this mistake is in the file already/],
    ["$heading-a\n", qr/:2: neither a heading nor/],
    ["99 softmax: a mistake\n- a\n", qr/:1: there is no chapter '99'/],
    ["02 soft: a mistake\n- a\n", qr/:1: .*no function soft /],
    ["$heading- no such line\n", qr/:2: 'no such line' stands in 0 places of softmax, not in 1/],
    ["$heading- for (int j = 0; j < n; j++)\n- sum;\n", qr/:2: 'for .* stands in 0 places/],
    ["02 mix: a mistake\n- for (int k = 0; k < d; k++)\n", qr/:2: 'for .* stands in 2 places/],
);
for (@refused) {
    my ($text, $message) = @$_;
    open my $file, '>', "$folder/list" or die "$folder/list: $!\n";
    print $file $text;
    close $file;
    eval {
        Mutants::plant($_, Mutants::chapter_of($_)) for Mutants::load("$folder/list");
    };
    like $@, $message, 'refused: ' . ($text =~ s/\n/ /gr);
}

my ($mutant) = Mutants::load('tests/mutants.txt');
my @lines = Mutants::plant($mutant, Mutants::chapter_of($mutant));
like join("\n", @lines), qr/^ +\Q$mutant->{changes}[0]{new}[0]\E$/m,
  'a planted line has the indentation of the one it replaces';

done_testing;
