package Report;

# What a submission has earned, and a class, in the formats that people and a teacher's
# tools read. What is reported of a submission:
#
#   name, who        of the assignment; of whom it is, or undef
#   seconds          that it took; score of max, the sums of earned and points
#   open             why it was in no jail (Jail.pm), or undef
#   compiled         {'02' => undef, or what the compiler said}
#   exercises        of each id, chapter, function, points, earned, state
#                    (done, wrong, empty, waits, uncompiled, missing or refused),
#                    message (what is wrong first), diagnosis (what it may be), and
#                    tests: name, ok, told (of Chapter::run_tests)
#
# A class is, for each student, {who, and result or fault
# (why there is none)}. What a student's code prints may hold anything: here it becomes
# characters that every format can hold (Text.pm), and no more than is read.

use strict;
use warnings;
use utf8;
use JSON::PP;
use List::Util qw(first max min);
use Text;

my %WRITER = (table => \&_table, gradescope => \&_gradescope, github => \&_table);
my $LONG  = 2000; # characters of each text
my $LINE  = 200;  # of a message, which is one line
my $SHOWN = 3;    # tests that fail, of each exercise: the others mostly follow
my @TOLD  = qw(wrong given gave due printed);

sub formats { return sort keys %WRITER }

# Returns what is to be written in UTF-8, as characters.
sub write {
    my ($format, $result) = @_;
    return $WRITER{$format}->($result);
}

# ---- What all formats say.

sub _label { return "$_[0]{id} $_[0]{function}" }

# What a learner reads of an exercise, as lines: of the tests that fail at most so many.
sub _lines {
    my ($exercise, $most) = @_;
    return 'done' if $exercise->{state} eq 'done';
    my @failed = $exercise->{state} eq 'wrong' ? grep { !$_->{ok} } @{$exercise->{tests}} : ();
    # The message is that of the first of them.
    my @lines = @failed ? () : Text::line($exercise->{message}, $LINE);
    push @lines, 'perhaps: ' . Text::line($exercise->{diagnosis}, $LINE) if defined $exercise->{diagnosis};
    $most = min($most, scalar @failed);
    for my $test (@failed[0 .. $most - 1]) {
        push @lines, 'FAILED  ' . Text::line($test->{name}, $LINE);
        for my $key (@TOLD) {
            my @told = split /\n/, Text::safe($test->{told}{$key} // '', $LONG);
            @told = ('...', @told[-$SHOWN .. -1]) if $key eq 'printed' && @told > $SHOWN;
            push @lines, map { sprintf '        %-8s %s', $_ ? '' : $key, $told[$_] } 0 .. $#told;
        }
    }
    push @lines, 'and ' . (@failed - $most) . ' more' if @failed > $most;
    return @lines;
}

# The score; and of the chapters that do not compile, what the compiler says of each.
sub _summary {
    my ($result) = @_;
    my %is = map { $_->{chapter} => 1 } grep { $_->{state} eq 'uncompiled' } @{$result->{exercises}};
    return ("score: $result->{score} / $result->{max}",
        defined $result->{open} ? 'graded ' . Text::line($result->{open}, $LINE) : (),
        map { ('', "chapter $_ does not compile:", split /\n/, Text::safe($result->{compiled}{$_}, $LONG)) }
          sort keys %is);
}

# ---- The formats of a submission. Each returns characters.

# The first screen says how far all is; and then of each that is wrong its first test
# that fails, and what the compiler says.
sub _table {
    my ($result) = @_;
    my @exercises = @{$result->{exercises}};
    my ($wide) = max map { length _label($_) } @exercises;
    my @lines = (join(', ', map { Text::line($_, $LINE) } grep { defined } @$result{qw(name who)}), '');
    for (@exercises) {
        my ($all, $failed) = (scalar @{$_->{tests}}, scalar grep { !$_->{ok} } @{$_->{tests}});
        push @lines, sprintf "%-*s  %2d / %-2d  %-10s  %s", $wide, _label($_), @$_{qw(earned points state)},
          $_->{state} eq 'wrong' && $failed ? "$failed of $all tests fail"
          : $_->{state} eq 'empty' ? '' : Text::line($_->{message}, $LINE);
    }
    push @lines, _summary($result);
    for (grep { $_->{state} eq 'wrong' } @exercises) {
        push @lines, '', _label($_), map {"    $_"} _lines($_, 1);
    }
    return join '', map { s/ +\z//r . "\n" } @lines;
}

sub _gradescope {
    my ($result) = @_;
    my @tests = map { +{name => _label($_), number => "$_->{id}", score => 0 + $_->{earned},
        max_score => 0 + $_->{points}, status => $_->{state} eq 'done' ? 'passed' : 'failed', output => join("\n", _lines($_, $SHOWN)),
        output_format => 'text', tags => ["chapter $_->{chapter}"], visibility => 'visible'} } @{$result->{exercises}};
    return JSON::PP->new->canonical->pretty->indent_length(1)->encode({score => 0 + $result->{score},
        execution_time => 0 + sprintf('%.3f', $result->{seconds}), output => join("\n", _summary($result)),
        output_format => 'text', visibility => 'visible', stdout_visibility => 'hidden', tests => \@tests});
}

# ---- A class

# What went wrong, as it is counted: by its name; where there was no answer, by that.
my $UNNAMED = qr{^(?:a mistake without a name|no answer)};
my $NONE = qr/^(no end|[\w ]+ (?:fault|error|exception|instruction)|Aborted|Killed|the program ended|refused)/;
sub _mistake {
    my ($its) = @_;
    my $failed = first { !$_->{ok} } @{$its->{tests}};
    return Text::line($its->{diagnosis} // (!$failed ? $its->{message}
        : ($failed->{told}{wrong} // '') =~ $NONE ? "no answer: $1"
        : 'a mistake without a name, in the test ' . $failed->{name} =~ s/^\w+: //r), $LINE);
}

# Of each exercise, how many have it done, wrong and open, and the most frequent mistake,
# of these before others one with a name.
sub lines {
    my ($assignment, @class) = @_;
    my (%count, %made);
    for my $its (map { $_->{result} ? @{$_->{result}{exercises}} : () } @class) {
        $count{$its->{id}}{$its->{state} =~ /^(?:done|wrong)$/ ? $its->{state} : 'open'}++;
        $made{$its->{id}}{_mistake($its)}++ if $its->{state} eq 'wrong';
    }
    my @lines;
    for (@{$assignment->{exercises}}) {
        my ($is, $of) = ($count{$_->{id}} // {}, $made{$_->{id}} // {});
        my ($most) = sort { $of->{$b} <=> $of->{$a} || $a =~ $UNNAMED <=> $b =~ $UNNAMED || $a cmp $b } keys %$of;
        push @lines, sprintf '%-6s %-18s %d done, %d wrong, %d open%s', @$_{qw(id function)},
          (map { $is->{$_} // 0 } qw(done wrong open)), defined $most ? "; most often: $most" : '';
    }
    return @lines;
}

# A row for each; who could not be graded has no points, and the reason. The note says
# what is missing or does not compile.
sub grades {
    my ($assignment, @class) = @_;
    my @ids = map { $_->{id} } @{$assignment->{exercises}};
    my @rows = ['name', 'score', 'max', @ids, 'note'];
    for (@class) {
        my $its = $_->{result} // {};
        my $said = $its->{compiled} // {};
        my %earned = map { $_->{id} => $_->{earned} } @{$its->{exercises} // []};
        my @notes = map { Text::line(s/\n.*//sr, $LINE) } grep { defined } map { $said->{$_} } sort keys %$said;
        push @rows, [$_->{who}, @$its{qw(score max)}, @earned{@ids}, $_->{fault} // join '; ', @notes];
    }
    my $text = Text::csv(@rows);
    return ($text =~ /[^\x00-\x7f]/ ? "\x{feff}" : '') . $text; # by which Excel knows UTF-8
}

1;
