#!/usr/bin/env perl
# Chapters are a stair: each stands on those before it, and so does a file of src/ that
# a chapter uses. Objects whose symbols need each other would be a circle.

use strict;
use warnings;
use File::Basename qw(basename);
use File::Find qw(find);
use Test::More;

my $build = $ENV{BUILD} // 'build';

# Of each object what it defines, and what it takes from others, symbol by symbol.
my (%home, %takes, @objects);
find({no_chdir => 1, wanted => sub { push @objects, $_ if m{/[\w.]+\.o\z} }}, "$build/obj");
for my $object (sort @objects) {
    my $name = basename($object, '.o');
    die "$object: there is another object of this name\n" if $takes{$name};
    $takes{$name} = {};
    for (qx{nm '$object'}) {
        my ($kind, $symbol) = /(\w) (\w+)$/ or next;
        if ($kind eq 'U') { $takes{$name}{$symbol} = 1 }
        elsif ($kind =~ /[A-Z]/ && $symbol ne 'main') { $home{$symbol} = $name }
    }
}
my %needs = map {
    my $name = $_;
    $name => {map { ($home{$_} // $name) ne $name ? ($home{$_} => $_) : () } sort keys %{$takes{$name}}}
} keys %takes;
cmp_ok scalar keys %home, '>', 300, 'objects define symbols';

# What is compiled for an instruction set takes from its like what is compiled for the same.
my @mixed;
for my $name (grep { /\./ } sort keys %takes) {
    my ($set) = $name =~ /\.(\w+)/;
    my %alike = map { (s/\..*//r => 1) } grep { /\.\Q$set\E\z/ } keys %takes;
    push @mixed, map {"$name takes $_ from $home{$_}"}
      grep { my $from = $home{$_} // ''; $alike{$from =~ s/\..*//r} && $from !~ /\.\Q$set\E\z/ } sort keys %{$takes{$name}};
}
is join("\n", @mixed), '', 'instruction sets are not mixed';

# From each object down to what it stands on. A way that comes back is a circle.
my (%done, @circles);
sub walk {
    my ($name, @way) = @_;
    my ($from) = grep { $way[$_] eq $name } 0 .. $#way;
    if (defined $from) {
        my @round = (@way[$from .. $#way], $name);
        return push @circles, join ', ', map {"$round[$_] takes $needs{$round[$_]}{$round[$_ + 1]} from $round[$_ + 1]"} 0 .. $#round - 1;
    }
    return if $done{$name};
    walk($_, @way, $name) for sort keys %{$needs{$name}};
    $done{$name} = 1;
    return;
}
walk($_) for sort keys %needs;
is join("\n", @circles), '', 'no object takes what takes from it';

# In which order the programs are linked, appendix B before chapter 5, which needs its
# normal numbers: every symbol comes from below, also by way of src/.
my @chapters = sort grep { /^\d/ } keys %needs;
my %step;
@step{@chapters} = 1 .. @chapters;
$step{$_} = /^B_/ ? $step{'05_tokens'} - 0.5 : @chapters + 1 for grep { /^[A-D]_/ } keys %needs;
my @wrong;
for my $chapter (@chapters) {
    my (%seen, @next);
    @next = $chapter;
    while (defined(my $name = shift @next)) {
        for my $other (grep { !$seen{$_}++ } sort keys %{$needs{$name}}) {
            push @wrong, "$chapter: $name takes $needs{$name}{$other} from $other" if ($step{$other} // 0) > $step{$chapter};
            push @next, $other;
        }
    }
}
is join("\n", @wrong), '', 'no chapter takes anything from a later one';

done_testing;
