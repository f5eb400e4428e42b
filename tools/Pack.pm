package Pack;

# Packs a folder as a zip archive, or bytes into a script for the book's pages: the same
# files give the same bytes.

use strict;
use warnings;
use utf8;
use Compress::Zlib qw(compress Z_BEST_COMPRESSION);
use File::Find qw(find);
use IO::Compress::Zip qw($ZipError);
use MIME::Base64 qw(encode_base64);

my $FIRST = 315_532_800; # the first second of 1980, before which an archive has no time

# When all was made that is packed: by SOURCE_DATE_EPOCH, which says so everywhere.
sub epoch {
    my ($given) = ($ENV{SOURCE_DATE_EPOCH} // '') =~ /^(\d{1,10})\z/;
    return defined $given && $given > $FIRST ? $given : $FIRST;
}

# All files below a folder, by name.
sub files {
    my ($folder) = @_;
    my @files;
    find({no_chdir => 1, wanted => sub { push @files, $_ if -f && !-l }}, $folder);
    return sort @files;
}

# Packs them under names that begin behind so many characters. That tools can be run
# stands in the upper half of the attributes. Dies with one line.
sub zip {
    my ($folder, $path, $skip) = @_;
    local $ENV{TZ} = 'UTC';
    my $zip;
    for my $file (files($folder)) {
        my @about = (Name => substr($file, $skip), Time => epoch(),
            ExtAttr => (0100644 | (-x $file ? 0111 : 0)) << 16);
        if ($zip) { $zip->newStream(@about) or die "$path: $ZipError\n" }
        else      { $zip = IO::Compress::Zip->new($path, @about) or die "$path: $ZipError\n" }
        open my $in, '<:raw', $file or die "$file: $!\n";
        local $/;
        $zip->print(scalar(<$in>) // '') or die "$path: $ZipError\n";
    }
    $zip->close or die "$path: $ZipError\n";
    return $path;
}

# A script that a page can load from the disk, too: deflated and in base64, what book.unpack
# of reader.js asks for by the script's name, without ".js".
sub script {
    my ($name, $bytes) = @_;
    my $packed = encode_base64(compress($bytes, Z_BEST_COMPRESSION), '');
    return qq{globalThis.book ??= {};\nbook.packed ??= {};\nbook.packed["$name"] = "$packed";\n};
}

1;
