#!/usr/bin/perl
# The golden data is what its manifest says, and every array of it is read by
# a test. Run from the root of the project; needs no Python.
use strict;
use warnings;
use Digest::SHA;
use File::Find qw(find);
use File::Glob qw(bsd_glob);
use File::Temp qw(tempfile);
use Test::More;

my $build = $ENV{BUILD} // 'build';

# Returns path => checksum; fills in the other two.
my (%form, @versions);
sub manifest {
    my ($name) = @_;
    my %sha256;
    open my $file, '<', $name or die "$name: cannot be opened: $!\n";
    while (my $line = <$file>) {
        chomp $line;
        push @versions, $1 if $line =~ /^# (\w+ \d\S*)$/;
        next if $line =~ /^#/;
        my ($path, $dtype, $shape, $sum, @rest) = split /\t/, $line, -1;
        die "$name:$.: path, dtype, shape and sha256 are needed\n"
            if @rest or ($sum // '') !~ /^[0-9a-f]{64}$/;
        die "$name:$.: $path is there twice\n" if $sha256{"golden/$path"};
        $sha256{"golden/$path"} = $sum;
        $form{"golden/$path"} = "$dtype $shape";
    }
    return %sha256;
}

sub checksum {
    my ($path) = @_;
    return 'no such file' unless -f $path;
    return eval { Digest::SHA->new(256)->addfile($path, 'b')->hexdigest }
        // "unreadable: $!";
}

# Returns the paths that this test program reads. Whether its tests pass is
# for it to say.
sub read_by {
    my ($program) = @_;
    my ($file, $log) = tempfile(UNLINK => 1);
    local $ENV{GOLDEN_READ} = $log;
    delete local $ENV{TAP_SMALL};
    system "'$program' >/dev/null 2>&1";
    chomp(my @paths = <$file>);
    return @paths;
}

# What an array's own header says of it, in the manifest's words.
sub form_of {
    my ($path) = @_;
    open my $file, '<:raw', $path or return 'no such file';
    read $file, my $header, 200;
    my %name = (f4 => 'float32', f8 => 'float64', i8 => 'int64');
    my ($type)  = $header =~ /'descr': '<(..)'/;
    my ($shape) = $header =~ /'shape': (\([^)]*\))/;
    return ($name{$type // ''} // '?') . ' ' . ($shape // '?');
}

my %sha256 = manifest('golden/manifest.tsv');
ok(keys %sha256 > 0, 'the manifest has ' . keys(%sha256) . ' arrays');

my %there;
find({ no_chdir => 1, wanted => sub { $there{$_} = 1 if /\.npy$/ } },
    'golden');

my @damaged = grep { checksum($_) ne $sha256{$_} } sort keys %sha256;
is_deeply(\@damaged, [], 'every array is there, as its checksum says')
    or diag map { "$_: " . checksum($_) . ", not $sha256{$_}\n" } @damaged;

my @other = grep { form_of($_) ne $form{$_} } sort keys %sha256;
is_deeply(\@other, [], 'every array has the type and shape that the manifest says')
    or diag map { "$_: " . form_of($_) . ", not $form{$_}\n" } @other;

open my $pins, '<', 'golden/requirements.txt' or die "golden/requirements.txt: $!\n";
my @pinned = sort map { /^(\w+)==(\S+)/ ? "$1 $2" : () } <$pins>;
is_deeply([grep { !/^python/ } sort @versions], \@pinned,
    'the manifest names the versions that are pinned');

my @strange = grep { !$sha256{$_} } sort keys %there;
is_deeply(\@strange, [], 'no array is there that the manifest lacks')
    or diag map { "$_: golden/generate.py does not make it\n" } @strange;

my @programs = grep { -f && -x } sort(bsd_glob("$build/tests/*_*"));
ok(@programs > 0, "there are test programs in $build/tests")
    or diag "make test builds them\n";

my %read;
$read{$_} = 1 for map { read_by($_) } @programs;
my @unread = grep { !$read{$_} } sort keys %sha256;
is_deeply(\@unread, [], 'every array is read by a test')
    or diag map { "$_: no program in $build/tests reads it\n" } @unread;

my @unknown = grep { !$sha256{$_} } sort keys %read;
is_deeply(\@unknown, [], 'no test reads an array that the manifest lacks')
    or diag map { "$_: is not in golden/manifest.tsv\n" } @unknown;

done_testing;
