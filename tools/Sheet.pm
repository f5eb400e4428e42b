package Sheet;

# What tools/worksheet and tools/quiz have in common: sheets, and what belongs to
# them, come into being together, or not at all.

use strict;
use warnings;
use File::Path qw(make_path remove_tree);

my %IS_PAPER = map { $_ => 1 } 'a4', 'us-letter';

sub refuse { print STDERR "$0: $_[0]\n"; exit 2 }

sub check_paper {
    my ($paper) = @_;
    refuse("PAPER is '$paper': a4 or us-letter is needed") if !$IS_PAPER{$paper};
    return $paper;
}

# A string as Typst writes it.
sub quote { return '"' . ($_[0] =~ s/([\\"])/\\$1/gr) . '"' }

# An array of what is Typst already: with one entry, too, it is one.
sub array { return '(' . join('', map {"$_, "} @_) . ')' }

# The title of a chapter, and what stands above it.
sub title_of {
    my ($chapter) = @_;
    my ($title) = map { /^# (.*?) \{#/ } @{$chapter->{lines}};
    my $number = $chapter->{number} =~ s/^0//r;
    return (($number =~ /^\d/ ? 'Chapter' : 'Appendix') . " $number", $title);
}

# Makes the files of a folder from the texts by their names, of Typst as PDF. Returns
# their names.
sub make {
    my ($folder, $paper, %text) = @_;
    my $new = "$folder/part.$$";
    make_path($new);
    my $made = eval { _make_in($new, $paper, %text) };
    my $why = $@;
    rename "$new/$_", "$folder/$_" or $why = "$folder/$_: $!\n" for $made ? @$made : ();
    remove_tree($new);
    rmdir $folder if !$made;
    die $why if $why =~ m{\S};
    exit 1 if !$made; # typst has said why
    return map {"$folder/$_"} @$made;
}

sub _make_in {
    my ($folder, $paper, %text) = @_;
    my @made;
    for my $name (sort keys %text) {
        open my $file, '>:encoding(UTF-8)', "$folder/$name" or die "$folder/$name: $!\n";
        print $file $text{$name};
        close $file or die "$folder/$name: $!\n";
        my $pdf = $name =~ s/\.typ$/.pdf/r;
        system('tools/typeset', "$folder/$name", "$folder/$pdf", $paper) == 0 or die "\n"
          if $pdf ne $name;
        push @made, $pdf;
    }
    return \@made;
}

1;
