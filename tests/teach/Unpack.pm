package Unpack;

# Unpacks an archive as any program would, and returns what each of its files may, by name.

use strict;
use warnings;
use Exporter qw(import);

our @EXPORT_OK = qw(unpacked);
my $PYTHON = <<'END';
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    for file in archive.infolist():
        os.chmod(archive.extract(file, sys.argv[2]), file.external_attr >> 16 & 0o777)
        print("%o %s" % (file.external_attr >> 16, file.filename))
END

sub unpacked {
    my ($archive, $into) = @_;
    open my $from, '-|', 'python3', '-c', $PYTHON, $archive, $into or die "python3: $!\n";
    my %mode = map { /^(\d+) (.*)/ ? ($2 => $1) : () } <$from>;
    close $from or die "$archive cannot be unpacked\n";
    return \%mode;
}

1;
