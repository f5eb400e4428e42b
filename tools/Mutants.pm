package Mutants;

# The planted mistakes of tests/mutants.txt, and how one is planted.
# tools/mutants and tests/mutants.t share this.

use strict;
use warnings;
use utf8;
use Chapter;

# Reads the file, a paragraph a mistake, into a list:
#   heading   such as '02 softmax: the largest score is not subtracted': the
#   chapter   number, the
#   function  that is changed, and the
#   name      of the mistake, in words
#   of        the chapter itself
#   changes   the lines in one place and the new ones, those in another, ...
sub load {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path
      or die "$path: cannot be read: $!\n";
    my @paragraphs = do { local $/ = ''; <$file> };
    my (@mutants, %chapter, %seen);
    for (grep { /^[^#\n]/m } @paragraphs) {
        my ($heading, $number, $function, $name, $lines) =
          /^((\w+) (\w+): (\S.*))\n(- .*\n(?:[-+] .*\n)*)\n*\z/
          or die "$path: " . s/\n.*//sr . ": a mistake is a heading, such as "
          . "'02 softmax: no maximum', and lines with - or +, the first with -\n";
        die "$path: $heading: is in the file already\n" if $seen{$heading}++;
        my ($source) = glob "chapters/${number}_*.c"
          or die "$path: $heading: there is no chapter '$number'\n";
        my @changes = $lines =~ /((?:^- .*\n)+)((?:^\+ .*\n)*)/mg;
        s/^[-+] *//mg for @changes;
        push @mutants, {heading => $heading, chapter => $number, name => $name,
                        function => $function, changes => \@changes,
                        of => $chapter{$number} //= Chapter->load($source)};
    }
    return @mutants;
}

# The chapter's lines with the mistake in them. Each change must fit its
# function in exactly one place; how far a line is indented does not count.
sub plant {
    my ($mutant) = @_;
    my @lines = @{$mutant->{of}{lines}};
    my ($open, $close) = $mutant->{of}->body($mutant->{function});
    my $body = join '', map { "$_\n" } @lines[$open + 1 .. $close - 1];
    my @changes = @{$mutant->{changes}};
    while (my ($old, $new) = splice @changes, 0, 2) {
        my $place = join '', map { "^ *\Q$_\E\n" } split /\n/, $old;
        my $places = () = $body =~ /$place/mg;
        die "$mutant->{heading}: '" . $old =~ s/\n.*//sr . "' stands in $places "
          . "places of $mutant->{function}, not in 1\n" if $places != 1;
        die "$mutant->{heading}: changes nothing\n" if $old eq $new;
        $body =~ s/$place/$new/m;
    }
    return (@lines[0 .. $open], split(/\n/, $body), @lines[$close .. $#lines]);
}

1;
