package Alike;

# Which submissions are much alike, however their variables are called: for a person
# to look at.

use strict;
use warnings;
use utf8;

my $LONG = 14;    # words of C that are one run
my $MOST = 20_000; # words of a function, of which the first count
my $ENOUGH = 20;  # runs, of which fewer are too few to tell
my $MUCH = 0.6;   # of the runs
my $KEPT = qr/^(?:for|while|if|else|return|float|double|int|const|do)$/;

# The functions of a text that have these names: name => body, without comments.
sub functions {
    my ($text, @names) = @_;
    $text =~ s{/\*.*?(?:\*/|\z)|//[^\n]*}{ }gs;
    my %body;
    for my $name (@names) {
        my ($body) = $text =~ /^\w[^\n;{}]*\b\Q$name\E\([^;{}]{0,2000}\)\s*\{(.*?)(?:^\}|\z)/ms;
        $body{$name} = $body if defined $body;
    }
    return \%body;
}

# The runs of words in functions, in which all names are one.
sub _runs {
    my ($functions) = @_;
    my %is_in;
    for my $name (keys %$functions) {
        my @words = map { /^[A-Za-z_]/ && !/$KEPT/ ? 'name' : $_ }
          $functions->{$name} =~ /[A-Za-z_]\w*|[\d.]\w*|[^\s\w]/g;
        splice @words, $MOST if @words > $MOST;
        $is_in{join ' ', $name, @words[$_ .. $_ + $LONG - 1]} = 1 for 0 .. @words - $LONG;
    }
    return keys %is_in;
}

# Pairs of these (each what functions returns) that are alike, as [share, index, index],
# the most alike first. What many have in common counts for nothing.
sub pairs {
    my (@all) = @_;
    my (%has, @own, %both);
    for my $k (0 .. $#all) { push @{$has{$_}}, $k for _runs($all[$k]) }
    for my $these (grep { @$_ <= 2 + @all / 5 } values %has) {
        for my $k (0 .. $#$these) {
            $own[$these->[$k]]++;
            $both{"$these->[$k] $_"}++ for @$these[$k + 1 .. $#$these];
        }
    }
    my @pairs;
    for my $pair (sort grep { $both{$_} >= $ENOUGH } keys %both) {
        my ($one, $other) = split / /, $pair;
        my $fewer = $own[$one] < $own[$other] ? $own[$one] : $own[$other];
        push @pairs, [$both{$pair} / $fewer, $one, $other] if $both{$pair} > $MUCH * $fewer;
    }
    return sort { $b->[0] <=> $a->[0] || $a->[1] <=> $b->[1] || $a->[2] <=> $b->[2] } @pairs;
}

1;
