package Headers;

# The book's headers as one file, in reading order: src/attention.h, in which each
# header of the book that it includes stands in the place of the include. What the
# other tools take for a Chapter, with, beside its lines,
#
#   from    for each line: the path of its file, and its number there

use strict;
use warnings;
use utf8;
use Chapter;
use File::Basename qw(dirname);

sub load {
    my ($class, $path) = @_;
    my $self = bless {map({ $_ => [] } qw(lines kind from blocks divs exercises)), path => $path,
        name => 'attention'}, 'Chapter';
    _add($self, $path, dirname($path));
    return $self;
}

# The files that are in it.
sub files {
    my ($self) = @_;
    my %seen;
    return grep { !$seen{$_}++ } map { $_->[0] } @{$self->{from}};
}

# Where line number n of it stands: file:line.
sub place {
    my ($self, $n) = @_;
    return join ':', @{$self->{from}[$n - 1] // [$self->{path}, $n]};
}

# Only a page of contents, which stands in the folder itself, is followed.
sub _add {
    my ($self, $path, $folder) = @_;
    my $header = Chapter->load($path);
    die "$path:1: a header begins with a line \"/*\" and its heading\n" if $header->{kind}[0] ne 'mark';
    my $is_contents = dirname($path) eq $folder;
    for my $i (0 .. $#{$header->{lines}}) {
        my ($other) = $is_contents ? $header->{lines}[$i] =~ /^#include "(.*)"/ : ();
        if (defined $other) {
            _add($self, "$folder/$other", $folder);
            # What depends on the compiler's flags is no matter of a program's own.
            _add($self, "$folder/kernel/lanes.h", $folder) if $other eq 'attention/kernel.h';
            next;
        }
        push @{$self->{lines}}, $header->{lines}[$i];
        push @{$self->{kind}},  $header->{kind}[$i];
        push @{$self->{from}},  [$path, $i + 1];
    }
    return;
}

1;
