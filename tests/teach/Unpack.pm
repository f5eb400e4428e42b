package Unpack;

# Unpacks an archive as any program would.

use strict;
use warnings;
use utf8;
use File::Basename qw(dirname);
use File::Path qw(make_path);
use Exporter qw(import);
use IO::Uncompress::Unzip qw($UnzipError);

our @EXPORT_OK = qw(unpacked);

# With what files may. Returns what each may, by name.
sub unpacked {
    my ($archive, $into) = @_;
    my $zip = IO::Uncompress::Unzip->new($archive) or die "$archive: $UnzipError\n";
    my %mode;
    do {
        my $name = $zip->getHeaderInfo->{Name};
        make_path(dirname("$into/$name"));
        open my $file, '>:raw', "$into/$name" or die "$into/$name: $!\n";
        local $/;
        print $file scalar(<$zip>) // '';
        close $file;
        $mode{$name} = '';
    } while ($zip->nextStream > 0);
    # What files may is in the directory at the end alone.
    open my $file, '<:raw', $archive or die "$archive: $!\n";
    my $bytes = do { local $/; <$file> };
    while ($bytes =~ /PK\x01\x02.{24}(.{2})(?:.{2}){2}.{4}(.{4}).{4}/sg) {
        my ($length, $attributes) = (unpack('v', $1), unpack 'V', $2);
        my $name = substr $bytes, pos $bytes, $length;
        next if !exists $mode{$name};
        $mode{$name} = sprintf '%o', $attributes >> 16;
        chmod $attributes >> 16 & 0777, "$into/$name";
    }
    return \%mode;
}

1;
