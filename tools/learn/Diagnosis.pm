package Diagnosis;

# Which known mistake makes just these values. tools/learn/mistakes finds, for each
# mistake of an exercise, the tests of that exercise that it fails and what each tells, as a
# file for each chapter: in the build folder, or in a student edition's .book.
#
# An answer is told a mistake if every test of its exercise agrees: those that fail,
# with what they tell, and those that pass. A refusal may be missing besides.

use strict;
use warnings;
use utf8;
use Chapter;
use JSON::PP;

my $NUMBER = qr/(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])/;

# Answers are computed in other orders, with other math libraries. They may
# differ by this much of a number, and where it is nearly right, by this much of
# what is wrong with it.
my $OF_NUMBER = 1e-4;
my $OF_FAULT  = 0.1;

# What says of an answer only that there was none: it fits too many mistakes to
# tell which it was.
my $NO_ANSWER = qr/^(?:Segmentation fault|Bus error|Aborted|Floating point exception|no end|the program ended|refused, with)/;

# What a failed test tells, as one line: where the first difference is, the
# number there and the one that is due; or what is wrong in words; and how many
# comparisons fail. A small array is told whole; of that one number stays, a sum
# with other weights for each entry.
sub told {
    my ($test) = @_;
    my $wrong = ($test->{told}{wrong} // '') =~ s/[\n\t]/; /gr;
    return 'not refused' if $wrong =~ /not refused|should have been refused/;
    # How often something is written where nothing is to be, is another thing on each day.
    return $1 if $wrong =~ /^(.*?: something was written (?:beyond its end|in front of it))/;
    if ($wrong =~ /^refused, with/) { # in words of the book's, if another function has done it
        my ($by, $why) = ($test->{told}{printed} // '') =~ /(?:^|\n)\w+\.c: (\w+): ([^\n]*)\n*\z/;
        return "refused by $by: $why" if defined $by && index($test->{name}, "$by:") != 0;
    }
    $wrong =~ s/ is due.*?(?=; |$)//g;
    $wrong =~ s/($NO_ANSWER).*/$1/;
    my ($sum, $k) = (0, 0);
    my %odd = (nan => 3.7, inf => 5.3, '-inf' => 7.1, unset => 11.9);
    my $gave = ($test->{told}{gave} // '') =~ s/^.*?=//mgr;
    for ($gave =~ /(-?inf|nan|unset|$NUMBER)/g) {
        $sum += (++$k % 17 + (/^-/ ? 1.5 : 1)) * ($odd{$_} // abs);
    }
    return join ' ~ ', $wrong, $test->{told}{fail} // (), $k ? sprintf '%.6g', $sum : ();
}

# Do two tests tell the same?
sub agree {
    my ($one, $other) = @_;
    return 1 if $one eq $other;
    my @text = map { s/$NUMBER/#/gr } $one, $other;
    return 0 if $text[0] ne $text[1];
    my @one   = $one =~ /$NUMBER/g;
    my @other = $other =~ /$NUMBER/g;
    my ($fail) = $one =~ / ~ (\d+) of \d+/;
    for my $k (0 .. $#one) {
        my $off = abs($one[$k] - $other[$k]);
        my $may = defined $fail && $one[$k] eq $fail ? $OF_FAULT : $OF_NUMBER;
        return 0 if $off > $may * abs($one[$k]) && $off > 1e-7;
    }
    my ($got, $due) = $one =~ /($NUMBER) where ($NUMBER)/ or return 1;
    my ($came) = $other =~ /($NUMBER) where $NUMBER/;
    return abs($got - $came) <= $OF_FAULT * abs($got - $due);
}

# An exercise's own tests that were run: name => what it tells, or undef if it
# passes. Those that wait for another exercise are not among them.
sub of_tests {
    my ($function, @tests) = @_;
    my %of;
    for my $test (@tests) {
        my ($name) = $test->{name} =~ /^\Q$function\E: (.*)/ or next;
        next if @{$test->{empty}} || ($test->{told}{wrong} // '') =~ /^not run:/;
        $of{$name} = $test->{ok} ? undef : told($test);
    }
    return \%of;
}

# Do the tests tell of a mistake? `fails` has what it makes each test tell.
sub fits {
    my ($fails, $of) = @_;
    my $values = 0;
    for my $name (keys %$of) {
        my ($kept, $came) = ($fails->{$name}, $of->{$name});
        next if !defined $kept && ($came // '') eq 'not refused'; # a refusal comes last, to most
        return 0 if defined $kept != defined $came || defined $came && !agree($kept, $came);
        $values++ if defined $came && $came !~ $NO_ANSWER;
    }
    return $values > 0;
}

# The names of the mistakes of an exercise that make its tests tell what they do.
sub names {
    my ($mistakes, $function, $of) = @_;
    return map { $_->{name} } grep { $_->{function} eq $function && fits($_->{fails}, $of) } @$mistakes;
}

# The mistakes of a chapter that are known here, each {function, name, fails}; none where
# nobody has planted them.
sub load {
    my ($root, $number) = @_;
    for my $path (map { "$_/mistakes/$number.json" } "$root/.book", $ENV{BUILD} // "$root/build") {
        open my $file, '<:raw', $path or next;
        return eval { decode_json(do { local $/; <$file> }) } // die "$path: is no list of mistakes: $@";
    }
    return [];
}

sub save {
    my ($path, @mistakes) = @_;
    my @kept = map { my $of = $_; +{map { $_ => $of->{$_} } qw(function name fails)} } @mistakes;
    return Chapter::save($path, split /\n/, JSON::PP->new->canonical->pretty->encode(\@kept));
}

1;
