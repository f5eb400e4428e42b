package Mutants;

# The planted mistakes of tests/mutants.txt, and how one is planted.
# tools/mutants and tests/mutants.t share this.

use strict;
use warnings;
use utf8;
use File::Glob qw(bsd_glob);
use FindBin;
use lib "$FindBin::Bin/../tools";
use Chapter;

# A line as it is compared: how far it is indented does not count.
sub _bare { return $_[0] =~ s/^\s+|\s+$//gr }

# Reads the file into a list of mistakes:
#   place     file and line of its heading
#   chapter   the chapter's number, and
#   function  the function there that is changed
#   name      the mistake in words
#   changes   for each place in the function: line (in the file), old and new
sub load {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path
      or die "$path: cannot be read: $!\n";
    my (@mutants, %seen);
    while (my $line = <$file>) {
        my $place = "$path:$.";
        next if $line =~ /^#|^\s*$/;
        if ($line =~ /^(\w+) (\w+): (\S.*?)\s*$/) {
            die "$place: this mistake is in the file already\n" if $seen{"$1 $2: $3"}++;
            push @mutants, {place => $place, chapter => $1, function => $2,
                            name => $3, changes => []};
        }
        elsif (my ($sign, $text) = $line =~ /^([-+]) (.*\S)/) {
            die "$place: a heading is needed first, as in '02 softmax: no maximum'\n"
              if !@mutants;
            my $changes = $mutants[-1]{changes};
            push @$changes, {line => $., old => [], new => []}
              if !@$changes || $sign eq '-' && @{$changes->[-1]{new}};
            push @{$changes->[-1]{$sign eq '-' ? 'old' : 'new'}}, $text;
        }
        else { die "$place: neither a heading nor a line with - or + before it\n" }
    }
    for my $mutant (@mutants) {
        die "$mutant->{place}: no line with - says what is changed\n"
          if !@{$mutant->{changes}} || grep { !@{$_->{old}} } @{$mutant->{changes}};
    }
    return @mutants;
}

sub chapter_of {
    my ($mutant) = @_;
    my @files = bsd_glob("$FindBin::Bin/../chapters/$mutant->{chapter}_*.c");
    die "$mutant->{place}: there is no chapter '$mutant->{chapter}'\n" if @files != 1;
    return Chapter->load($files[0]);
}

# The first indices from $first to $last where the old lines stand.
sub _found {
    my ($lines, $first, $last, @old) = @_;
    return grep {
        my $i = $_;
        !grep { _bare($lines->[$i + $_]) ne _bare($old[$_]) } 0 .. $#old;
    } $first .. $last - $#old;
}

# The chapter's lines with the mistake in them. Each change must fit its
# function in exactly one place. New lines take the places of the old.
sub plant {
    my ($mutant, $chapter) = @_;
    my ($path) = $mutant->{place} =~ /(.*):/;
    my @lines = @{$chapter->{lines}};
    my ($open, $close) = eval { $chapter->body($mutant->{function}) }
      or die "$mutant->{place}: $@";
    for my $change (@{$mutant->{changes}}) {
        my @old = @{$change->{old}};
        my @places = _found($chapter->{lines}, $open + 1, $close - 1, @old);
        die "$path:$change->{line}: '" . _bare($old[0]) . "' stands in "
          . @places . " places of $mutant->{function}, not in 1\n" if @places != 1;
        my ($indent) = $lines[$places[0]] =~ /^(\s*)/;
        @lines[$places[0] .. $places[0] + $#old] = (undef) x @old;
        $lines[$places[0]] = join "\n", map { $indent . $_ } @{$change->{new}};
    }
    return grep { defined } @lines;
}

1;
