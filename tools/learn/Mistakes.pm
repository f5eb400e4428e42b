package Mistakes;

# The mistakes that people make in exercises, as tests/learn/mistakes.tsv lists them, and
# how one is planted.

use strict;
use warnings;
use utf8;
use Chapter;

# The rows of the table: chapter (its number), function, name (what is wrong, in words), and
# changes (a text in the function, what takes its place, another text, ...). Dies with the
# first row that is not one.
sub load {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path or die "$path: cannot be read: $!\n";
    my (@mistakes, %seen);
    while (my $row = <$file>) {
        next if $row =~ /^(?:#|\s*$)/;
        my ($number, $function, $name, @changes) = split /\t/, $row =~ s/\r?\n\z//r, -1;
        push @changes, '' if @changes % 2; # an editor has taken the tab at the end
        die "$path:$.: a row has a chapter, a function, what is wrong, and a text with what takes its place\n"
          if !@changes || grep { !/\S/ } $number, $function, $name;
        die "$path:$.: '$name' is in the table already\n" if $seen{"$number $function $name"}++;
        push @mistakes, {chapter => $number, function => $function, name => $name, changes => \@changes};
    }
    return @mistakes;
}

# The chapter's lines with the mistake in them. Each text must be in the function exactly
# once; blanks, line ends and comments don't count.
sub planted {
    my ($chapter, $mistake) = @_;
    my @lines = @{$chapter->{lines}};
    my ($open, $close) = $chapter->body($mistake->{function});
    my $body = join "\n", @lines[$open + 1 .. $close - 1];
    $body =~ s{("(?:\\.|[^"\\])*")|/\*.*?\*/|//[^\n]*}{$1 // ''}gse;
    my @changes = @{$mistake->{changes}};
    my @places; # from, to, what takes its place
    while (my ($old, $new) = splice @changes, 0, 2) {
        my $text = join '\s*', map { /^\w/ ? "\\b$_\\b" : quotemeta } $old =~ /\w+|\S/g;
        my @found;
        push @found, [$-[0], $+[0], $new] while $body =~ /$text/g;
        die "'$old' is in $mistake->{function} " . @found . " times; it must be there once\n" if @found != 1;
        push @places, @found;
    }
    substr $body, $_->[0], $_->[1] - $_->[0], $_->[2] for sort { $b->[0] <=> $a->[0] } @places;
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
