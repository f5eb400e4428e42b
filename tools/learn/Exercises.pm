package Exercises;

# The exercises of a student's copy: which are open, where each is, its hints, and how the
# book does it. What the book says is read in .book, where tools/learn/student has put it: a
# learner's own file may be half written at any time.

use strict;
use warnings;
use utf8;
use Chapter;
use Plain;

my $KEPT = '.progress'; # which hints have been seen: an id and a number each

# The lines of a file, none if it is not there.
sub lines_of {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path or return;
    chomp(my @lines = map { tr/\r//dr } <$file>);
    return @lines;
}

# Which are open here, and why one may be left out, if it may: it is a challenge, or comes
# beside what is asked for. None, in the book itself.
sub open_here { return map { /^(\S+) ?(.*)/ } lines_of('.book/exercises') }

# All that are open here and those by hand, in the book's order: what Chapter says of each,
# with chapter (the book's), number, path (of the learner's file), and is_extra, if it may be
# left out. The current folder is the copy's.
sub load {
    my %open = open_here() or die "this is no student's copy: make student CHAPTER=01 DIR=work makes one, in work\n";
    my @all;
    for my $chapter (map { Chapter->load($_) } sort glob '.book/*_*.c') {
        push @all, {%$_, chapter => $chapter, number => $chapter->{number}, path => "chapters/$chapter->{name}.c",
            is_extra => $open{$_->{id}}} for grep { defined $open{$_->{id}} || !$_->{function} } @{$chapter->{exercises}};
    }
    return @all;
}

sub find {
    my ($id, @all) = @_;
    my ($found) = grep { $_->{id} eq $id } @all;
    my @ids = map { $_->{id} } grep { $_->{function} } @all;
    my ($chapter) = $id =~ /^0*(\w+)/;
    my @near = grep { /^\Q$chapter\E\./ } @ids;
    return $found // die "there is no exercise $id here: " . (@near ? join ', ', @near : "$ids[0] to $ids[-1]")
      . " can be written\n";
}

# Is its body still the TODO that the copy began with?
sub is_empty { return !!grep { /^\s*TODO\("\Q$_[0]{id}\E"\)/ } lines_of($_[0]{path}) }

# The learner's file, and the line of its TODO, or else of its function.
sub place {
    my ($e) = @_;
    my @lines = lines_of($e->{path});
    for my $pattern (qr/^\s*TODO\("\Q$e->{id}\E"\)/, qr/^\w[^;]*\b\Q$e->{function}\E\(/) {
        my ($found) = grep { $lines[$_] =~ $pattern } 0 .. $#lines;
        return "$e->{path}:" . ($found + 1) if defined $found;
    }
    return $e->{path};
}

# Its hints, or what is said when it is done, each as lines.
sub below {
    my ($e, $kind) = @_;
    return map { [Plain::filled(@{$e->{chapter}{lines}}[$_->[0] + 1 .. $_->[1] - 1])] } $e->{chapter}->below($e, $kind);
}

# The next hint, which counts as seen from then on, or the one that is asked for.
sub hint {
    my ($e, $asked) = @_;
    my @hints = below($e, 'hint');
    die "exercise $e->{id} has hints 1 to " . @hints . ": HINT=$asked is none of them\n"
      if defined $asked && ($asked !~ /^\d+$/ || $asked < 1 || $asked > @hints);
    my %seen = map { split } lines_of($KEPT);
    my $seen = $seen{$e->{id}} // 0;
    my $k = $asked // ($seen < @hints ? $seen + 1 : $seen);
    hints_seen($e, $k) if $k > $seen;
    return ("Hint $k of " . @hints . " for $e->{id} $e->{function}" . (!$asked && $k == $seen ? ', the last one:' : ':'),
        @{$hints[$k - 1]});
}

sub hints_seen {
    my ($e, $count) = @_;
    my %seen = (map({ split } lines_of($KEPT)), $e->{id} => $count);
    Chapter::save($KEPT, map {"$_ $seen{$_}"} sort keys %seen);
}

# How the book does it: the function, and what is said of it; or what is found by hand. What
# a teacher hands out has none.
sub solution {
    my ($e) = @_;
    my $chapter = $e->{chapter};
    my ($lines, $kind) = @$chapter{qw(lines kind)};
    my ($div) = grep { $lines->[$_->[0]] =~ /\.solution\b.*\bexercise="\Q$e->{id}\E"/ } @{$chapter->{divs}};
    my @prose = $div ? Plain::plain(map { $lines->[$_] } grep { $kind->[$_] ne 'code' } $div->[0] .. $div->[1]) : ();
    return @prose if !$e->{function};
    my ($definition) = grep { $_->{name} eq $e->{function} } $chapter->definitions;
    my (undef, $close) = $chapter->body($e->{function});
    my @code = @$lines[$definition->{first} .. $close];
    die "this copy doesn't have the solution to $e->{id}: the book has it\n" if grep { /^\s*TODO\(/ } @code;
    return (@code, @prose ? ('', @prose) : ());
}

# Empties it again, with the declaration that the book has, and returns what to say of it:
# above all, where the file as it was has been kept. A file that is gone, or is no chapter
# any more, comes back with all its exercises (those of @all) empty.
sub empty_again {
    my ($e, @all) = @_;
    my @mine = lines_of($e->{path});
    my $now  = eval { Chapter->load($e->{path}) };
    my ($definition) = !$now || Chapter::unmet(@mine) ? () : grep { $_->{name} eq $e->{function} } $now->definitions;
    hints_seen($e, 0);
    return "$e->{function} is empty already" if $definition && is_empty($e);
    my $k = 1;
    $k++ while -e "$e->{path}.$k";
    my $kept = @mine && Chapter::save("$e->{path}.$k", @mine);
    if (!$definition) {
        Chapter::save($e->{path}, $e->{chapter}->emptied(grep { $_->{function} && $_->{number} eq $e->{number} } @all));
        return "$e->{path} was gone: it is there again, and its exercises are empty" if !@mine;
        return "$e->{path} was no chapter any more: all its exercises are empty again. Your text is in $kept";
    }
    my ($books) = grep { $_->{name} eq $e->{function} } $e->{chapter}->definitions;
    my (undef, $end)   = $now->body($e->{function});
    my (undef, $close) = $e->{chapter}->body($e->{function});
    splice @mine, $definition->{first}, $end - $definition->{first} + 1,
      ($e->{chapter}->emptied($e))[$books->{first} .. $close];
    Chapter::save($e->{path}, @mine);
    return "$e->{function} is empty again. Your text is in $kept";
}

1;
