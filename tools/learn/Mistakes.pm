package Mistakes;

# The mistakes that people make in exercises, as tests/learn/mistakes.txt lists them, and
# how one is planted.

use strict;
use warnings;
use utf8;
use Chapter;

# Reads the file, a paragraph a mistake, into a list:
#   heading   such as '02 softmax: the largest score is not subtracted': the
#   chapter   number, the
#   function  of the exercise, and the
#   name      of the mistake, in words
#   changes   the lines in one place and the new ones, those in another, ...
# Dies with the first paragraph that says nothing clear.
sub load {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path or die "$path: cannot be read: $!\n";
    my @paragraphs = do { local $/ = ''; <$file> };
    my (@mistakes, %seen);
    for (grep { /^[^#\n]/m } @paragraphs) {
        my ($heading, $number, $function, $name, $lines) =
          /^((\w+) (\w+): (\S.*))\n(- .*\n(?:[-+] .*\n)*)\n*\z/
          or die "$path: " . s/\n.*//sr . ": a mistake is a heading, such as "
          . "'02 softmax: no maximum', and lines with - or +, the first with -\n";
        die "$path: $heading: is in the file already\n" if $seen{$heading}++;
        my @changes = $lines =~ /((?:^- .*\n)+)((?:^\+ .*\n)*)/mg;
        s/^[-+] *//mg for @changes;
        push @mistakes, {heading => $heading, chapter => $number, name => $name,
            function => $function, changes => \@changes};
    }
    return @mistakes;
}

# The chapter's lines with the mistake in them. Each change must fit its function in
# exactly one place; how far a line is indented and where it is broken do not count.
sub planted {
    my ($chapter, $mistake) = @_;
    my @lines = @{$chapter->{lines}};
    my ($open, $close) = $chapter->body($mistake->{function});
    my $body = join '', map { "$_\n" } @lines[$open + 1 .. $close - 1];
    my @changes = @{$mistake->{changes}};
    while (my ($old, $new) = splice @changes, 0, 2) {
        my $place = join '', map { "^ *\Q$_\E\n" } split /\n/, $old;
        my $places = () = $body =~ /$place/mg;
        # Lines that are broken elsewhere are the same code.
        $place = join '\s*', map { quotemeta } $old =~ /\w+|\S/g if !$places;
        $places ||= () = $body =~ /$place/mg;
        die "$mistake->{heading}: '" . $old =~ s/\n.*//sr . "' stands in $places "
          . "places of $mistake->{function}, not in 1\n" if $places != 1;
        die "$mistake->{heading}: changes nothing\n" if $old eq $new;
        $body =~ s/$place/$new/m;
    }
    return (@lines[0 .. $open], split(/\n/, $body), @lines[$close .. $#lines]);
}

# An answer that does nothing: its name and the chapter's lines. Tests cannot tell it from
# one that only adds to an array of zeros.
sub idle {
    my ($chapter, $function) = @_;
    my @lines = @{$chapter->{lines}};
    my ($open, $close) = $chapter->body($function);
    my ($head) = grep { /^\w.*\b\Q$function\E\(/ } reverse @lines[0 .. $open];
    my $is_void = $head =~ /^void\b[^*]*\b\Q$function\E\(/;
    return ($is_void ? 'nothing is written' : '0 is returned, whatever is given',
        @lines[0 .. $open], $is_void ? '    return;' : '    return 0;', @lines[$close .. $#lines]);
}

1;
