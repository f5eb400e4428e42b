#!/usr/bin/env perl
# Chapters are a stair: each stands on those before it, and so does a file of src/ that
# a chapter uses; that holds where its program is linked, with nothing of a later chapter.
# Objects whose symbols need each other would be a circle.

use strict;
use warnings;
use File::Basename qw(basename);
use Test::More;

my $build = $ENV{BUILD} // 'build';

# Of each object what it defines, and what it takes from others, symbol by symbol.
my (%home, %takes);
my @objects = map { m{^(?:chapters|src)/(.*)\.c$}; "$build/obj/$1.o" }
  grep { !/instruction_set/ } glob 'chapters/*.c src/*.c src/*/*.c';
my @kernels = glob "$build/obj/kernel/instruction_set.*.o";
for my $object (@objects, @kernels) {
    my $name = basename($object, '.o');
    $takes{$name} = {};
    for (qx{nm '$object'}) {
        my ($kind, $symbol) = /(\w) (\w+)$/ or next;
        if ($kind eq 'U') { $takes{$name}{$symbol} = 1 }
        elsif ($kind =~ /[A-Z]/) { $home{$symbol} = $name }
    }
}
my %needs = map {
    my $name = $_;
    $name => {map { ($home{$_} // $name) ne $name ? ($home{$_} => $_) : () } sort keys %{$takes{$name}}}
} keys %takes;
cmp_ok scalar keys %home, '>', 300, 'objects define symbols';

# What is compiled for an instruction set calls its like, not the plain ones.
for my $set (map { /\.(\w+)\.o$/ } @kernels) {
    is join(' ', grep { $home{$_} eq "instruction_set.$set" } sort keys %home), "kernel_$set", "$set: others see one Kernel";
    is join(' ', grep { /^(?:15_kernel|attend|backward|cache)$/ } sort keys %{$needs{"instruction_set.$set"}}), '', '... and it stands by itself';
}

my $pairs = join ' ', map { my $name = $_; map {"$name $_"} sort keys %{$needs{$name}} } sort keys %needs;
is qx{echo $pairs | tsort 2>&1 >/dev/null}, '', 'no object takes what takes from it';

done_testing;
