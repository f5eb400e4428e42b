#!/usr/bin/env perl
# The planted mistakes fit their chapters, every exercise has some, and a list
# that says nothing clear is refused. `make mutants` tries them.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use Chapter;
use Mutants;
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $FEWEST = 5; # for each exercise

my @mutants = Mutants::load('tests/measure/mutants.txt');
my (%count, @wrong);
for my $mutant (@mutants) {
    eval { Mutants::plant($mutant) };
    push @wrong, $@;
    $count{"$mutant->{chapter} $mutant->{function}"}++;
}
is join('', @wrong), '', 'each fits its chapter in one place';
for my $chapter (map { Chapter->load($_) } glob 'chapters/*_*.c') {
    is join(', ', grep { ($count{"$chapter->{number} $_"} // 0) < $FEWEST } grep { defined }
          map { $_->{function} } @{$chapter->{exercises}}), '',
      "$chapter->{name}: every exercise has $FEWEST at least";
}

# ---- What is refused.

my $folder = tempdir(CLEANUP => 1);
my $heading = "02 softmax: a mistake\n";
my $form = qr/: a mistake is a heading, such as/;
my @refused = (
    ["- a\n+ b\n", qr/- a$form/],
    ["# softmax\n$heading- a\n", qr/# softmax$form/],
    ["$heading\n", qr/a mistake$form/],
    ["$heading+ b\n", qr/a mistake$form/],
    ["$heading-a\n", qr/a mistake$form/],
    ["$heading- float largest = scores[0];\n+   float largest = scores[0];\n",
      qr/a mistake: changes nothing/],
    ["$heading- a\n\n$heading- a\n", qr/a mistake: is in the file already/],
    ["99 softmax: a mistake\n- a\n", qr/a mistake: there is no chapter '99'/],
    ["02 soft: a mistake\n- a\n", qr/no function soft /],
    ["$heading- no such line\n", qr/'no such line' stands in 0 places of softmax, not in 1/],
    ["$heading- for (int j = 0; j < n; j++)\n- sum;\n", qr/'for .* stands in 0 places/],
    ["02 weighted_sum: a mistake\n- for (int k = 0; k < d; k++)\n", qr/'for .* stands in 2 places/],
);
for (@refused) {
    my ($text, $message) = @$_;
    open my $file, '>', "$folder/list" or die "$folder/list: $!\n";
    print $file $text;
    close $file;
    eval { Mutants::plant($_) for Mutants::load("$folder/list") };
    like $@, $message, 'refused: ' . ($text =~ s/\n/ /gr);
}

done_testing;
