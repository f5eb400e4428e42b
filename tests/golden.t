#!/usr/bin/env perl
# The golden data is what its checksums say, was made with the versions that
# are pinned, and every tensor of it is read by a test. Needs no Python.

use strict;
use warnings;
use Digest::SHA;
use File::Temp qw(tempfile);
use JSON::PP qw(decode_json);
use Test::More;

my $build = $ENV{BUILD} // 'build';

sub lines_of {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: cannot be opened: $!\n";
    chomp(my @lines = <$file>);
    return @lines;
}

sub none {
    my ($name, @wrong) = @_;
    is join("\n", @wrong), '', $name;
}

sub checksum {
    my ($path) = @_;
    return eval { Digest::SHA->new(256)->addfile($path, 'b')->hexdigest } // 'no such file';
}

# The header of a file: eight bytes of length, and JSON.
sub header_of {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: cannot be opened: $!\n";
    read $file, my ($start), 8;
    read $file, my ($text), unpack('Q<', $start);
    return decode_json($text);
}

# The names that a program asks for. Whether its tests pass is for it to say.
sub read_by {
    my ($program) = @_;
    my (undef, $log) = tempfile(UNLINK => 1);
    local $ENV{GOLDEN_READ} = $log;
    delete local $ENV{TAP_SMALL};
    system "'$program' >/dev/null 2>&1";
    return lines_of($log);
}

my %sum = map { /^([0-9a-f]{64})  (\w+)\.safetensors$/ ? ($2 => $1) : die "golden/SHA256SUMS: '$_'\n" }
  lines_of('golden/SHA256SUMS');
my @chapters = sort keys %sum;
my %path     = map { $_ => "golden/$_.safetensors" } @chapters;
cmp_ok scalar @chapters, '>', 0, 'there are golden files';
none 'each is as its checksum says', grep { checksum($path{$_}) ne $sum{$_} } @chapters;

my %known = map { $_ => 1 } values %path, map { "golden/$_" }
  qw(SHA256SUMS check.py generate.py requirements.txt);
none 'and no file is there that generate.py does not make',
  grep { !$known{$_} && $_ ne 'golden/__pycache__' } glob 'golden/*';

# MKL, which only some machines have, is for appendix D alone.
my @pinned = lines_of('golden/requirements.txt');
my %there;
for my $chapter (@chapters) {
    my $header = header_of($path{$chapter});
    my $about  = delete $header->{__metadata__} // {};
    my $with   = join ', ', map { s/==/ /r =~ s/;.*//r } grep { !/;/ || $chapter eq 'D_mkl' } @pinned;
    like $about->{made} // '', qr/^by golden\/generate\.py with \Q$with\E, python 3/,
      "$chapter: made with the versions that are pinned";
    $there{"$chapter/$_"} = 1 for keys %$header;
}

my @programs = map { m{tests/(\w+)\.c$} ? "$build/tests/$1" : () } glob 'tests/*_*.c';
none 'every test program is there (make test builds them)', grep { !-x } @programs;
my %read = map { $_ => 1 } map { read_by($_) } @programs;
none 'every tensor is read by a test', grep { !$read{$_} } sort keys %there;
none 'and no test reads one that is not there', grep { !$there{$_} } sort keys %read;

done_testing;
