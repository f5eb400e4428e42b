#!/usr/bin/env perl
# The picture for other sites: it is read as any program would read it, and its
# squares have the shades of the numbers that chapter 9's functions make.

use strict;
use warnings;
use Compress::Zlib qw(crc32 uncompress);
use Test::More;

my $build = $ENV{BUILD} // 'build';
plan skip_all => "there is no $build/card.png: make test-book makes it" if !-e "$build/card.png";

open my $file, '<:raw', "$build/card.png" or die $!;
my $png = do { local $/; <$file> };
cmp_ok(length $png, '<', 30_000, 'it is small');
ok($png =~ s/\A\x89PNG\r\n\x1a\n//, 'it is a PNG');
my (%chunk, @order);
while ($png =~ s/\A(.{4})(.{4})//s) {
    my ($size, $name) = (unpack('N', $1), $2);
    $chunk{$name} = substr $png, 0, $size, '';
    push @order, $name;
    is(unpack('N', substr $png, 0, 4, ''), crc32($name . $chunk{$name}), "$name: its sum");
}
is("@order", 'IHDR PLTE IDAT IEND', 'its chunks');
is_deeply([unpack 'NNC5', $chunk{IHDR}], [1200, 630, 8, 3, 0, 0, 0], 'its size and form');
my $rows = uncompress($chunk{IDAT});
is(length($rows // ''), 630 * 1201, 'all pixels, and Adler\'s sum is right');

# Each row is the difference to the one above.
my @pixel = ([(0) x 1200]);
for my $y (0 .. 629) {
    my ($filter, @row) = unpack 'C*', substr $rows, $y * 1201, 1201;
    is($filter, 2, "row $y: how it is to be read") if $filter != 2;
    push @pixel, [map { ($pixel[-1][$_] + $row[$_]) & 255 } 0 .. 1199];
}
shift @pixel;

# The shade in the middle of each square, from 0 to 255.
sub shade { my ($i, $j) = @_; return $pixel[50 + 90 * $i + 40][335 + 90 * $j + 40] }
my @x = ([.43, .15, .89], [.55, .87, .66], [.57, .85, .64], [.22, .58, .33], [.77, .25, .10], [.05, .80, .55]);
for my $i (0 .. 5) {
    my @e = map { my $j = $_; my $s = 0; $s += $x[$i][$_] * $x[$j][$_] for 0 .. 2; exp $s } 0 .. $i;
    my $sum = 0;
    $sum += $_ for @e;
    for my $j (0 .. 5) {
        my $right = $j <= $i ? 255 * (.1 + .9 * $e[$j] / $sum) : 0;
        ok(abs(shade($i, $j) - $right) < .6, "the square $i, $j")
          or diag(shade($i, $j) . " is not $right");
    }
}
is($pixel[51][336], 0, 'its corners are round');

done_testing();
