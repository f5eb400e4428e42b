package Documents;

# The rows of tests/documents.tsv; tests/documents.t explains the columns.

use strict;
use warnings;

my @COLUMNS = qw(document place printed chapter output right note);

# Each row with its columns by name, and `at`, its place.
sub rows {
    my @rows;
    open my $file, '<:encoding(UTF-8)', 'tests/documents.tsv' or die "documents.tsv: $!\n";
    while (my $line = <$file>) {
        chomp $line;
        next if $line =~ /^#|^\s*$/;
        my @cells = split /\t/, $line, -1;
        die "documents.tsv:$.: the row has " . @cells . " columns: 7 are needed\n" if @cells != 7;
        push @rows, {at => "documents.tsv:$.", map { $COLUMNS[$_] => $cells[$_] } 0 .. 6};
    }
    return @rows;
}

1;
