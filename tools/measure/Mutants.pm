package Mutants;

# The planted mistakes of tests/measure/mutants.txt, and how one is planted.
# tools/measure/mutants and tests/measure/mutants.t share this.

use strict;
use warnings;
use utf8;
use Chapter;
use Digest::SHA qw(sha1_hex);
use Encode qw(encode);

# The chapter whose tests are those of a file of src that has none of its own.
my %TESTS = (agreement => '21_training', call => 'attend', float16 => '16_kv_cache', gpt => '22_gpt',
    gpt_training => '23_language_model', kv_cache => '16_kv_cache', rows => '16_kv_cache', transpose => '15_kernel');

# Reads the file, a paragraph a mistake, into a list:
#   heading   such as '02 softmax: the largest score is not subtracted': the
#   chapter   number, or 'attend' for src/kernel/attend.c, the
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
        my ($source) = grep {-e} glob("chapters/${number}_*.c"), "src/$number.c", "src/kernel/$number.c"
          or die "$path: $heading: there is no chapter '$number'\n";
        my @changes = $lines =~ /((?:^- .*\n)+)((?:^\+ .*\n)*)/mg;
        s/^[-+] *//mg for @changes;
        push @mutants, {heading => $heading, chapter => $number, name => $name,
                        function => $function, changes => \@changes,
                        of => $chapter{$number} //= Chapter->load($source)};
        $chapter{$number}{number} = $number;
        $chapter{$number}{tests}  = $TESTS{$number} // $chapter{$number}{name};
    }
    return @mutants;
}

# The chapter's lines with the mistake in them. Each change must fit its
# function in exactly one place; how far a line is indented and where it is broken do
# not count.
sub plant {
    my ($mutant) = @_;
    my @lines = @{$mutant->{of}{lines}};
    my ($open, $close) = $mutant->{of}->body($mutant->{function});
    my $body = join '', map { "$_\n" } @lines[$open + 1 .. $close - 1];
    my @changes = @{$mutant->{changes}};
    while (my ($old, $new) = splice @changes, 0, 2) {
        my $place = join '', map { "^ *\Q$_\E\n" } split /\n/, $old;
        my $places = () = $body =~ /$place/mg;
        # Lines that are broken elsewhere are the same code.
        $place = join '\s*', map { quotemeta } $old =~ /\w+|\S/g if !$places;
        $places ||= () = $body =~ /$place/mg;
        die "$mutant->{heading}: '" . $old =~ s/\n.*//sr . "' stands in $places "
          . "places of $mutant->{function}, not in 1\n" if $places != 1;
        die "$mutant->{heading}: changes nothing\n" if $old eq $new;
        $body =~ s/$place/$new/m;
    }
    return (@lines[0 .. $open], split(/\n/, $body), @lines[$close .. $#lines]);
}

# So many of each chapter, which its file decides: another file, other mistakes.
sub sample {
    my ($count, @mutants) = @_;
    my (%sum, %taken);
    $sum{$_->{heading}} = sha1_hex(encode('UTF-8', join "\n", $_->{heading}, @{$_->{of}{lines}})) for @mutants;
    my %is_in = map { $_->{heading} => 1 } grep { $taken{$_->{chapter}}++ < $count }
      sort { $sum{$a->{heading}} cmp $sum{$b->{heading}} } @mutants;
    return grep { $is_in{$_->{heading}} } @mutants;
}

# Is what the mistake is in an exercise?
sub is_exercise {
    my ($mutant) = @_;
    return scalar grep { ($_->{function} // '') eq $mutant->{function} } @{$mutant->{of}{exercises}};
}

# For each exercise of a chapter one mistake more, in the same form: an answer that
# does nothing. It may look like another, as tests cannot tell an array that was
# only added to from one that was not written.
sub idle {
    my ($chapter) = @_;
    my @idle;
    for my $function (grep { defined } map { $_->{function} } @{$chapter->{exercises}}) {
        my @lines = @{$chapter->{lines}};
        my ($open, $close) = $chapter->body($function);
        my ($head) = grep { /^\w.*\b\Q$function\E\(/ } reverse @lines[0 .. $open];
        my $is_void = $head =~ /^void\b[^*]*\b\Q$function\E\(/;
        my $name = $is_void ? 'nothing is written' : '0 is returned, whatever is given';
        push @idle, {of => $chapter, chapter => $chapter->{number}, function => $function, name => $name,
            is_idle => 1, heading => "$chapter->{number} $function: $name",
            lines => [@lines[0 .. $open], $is_void ? '    return;' : '    return 0;', @lines[$close .. $#lines]]};
    }
    return @idle;
}

# For each chapter a sum of what its exercises' mistakes come from: its code,
# its tests, what these read, and the mistakes themselves.
sub sums {
    my (@mutants) = @_;
    my (%text, %of, %sum);
    for (grep { is_exercise($_) } @mutants) {
        $of{$_->{chapter}} = $_->{of};
        $text{$_->{chapter}} .= join "\n", $_->{heading}, @{$_->{changes}};
    }
    for my $number (keys %of) {
        my $name = $of{$number}{name};
        my @text = map { $of{$number}{lines}[$_] } $of{$number}->lines_of('code');
        for my $path ("tests/$name.c", 'golden/SHA256SUMS') {
            open my $file, '<:encoding(UTF-8)', $path or die "$path: cannot be read: $!\n";
            push @text, grep { $path =~ /^tests/ || /\b\Q$name\E\./ } <$file>;
        }
        $sum{$number} = substr sha1_hex(encode('UTF-8', join "\n", $text{$number}, @text)), 0, 16;
    }
    return %sum;
}

1;
