package Report;

# What a submission has earned, in the formats that people and a teacher's tools
# read. What is reported of it:
#
#   name, who        of the assignment; of whom it is, or undef
#   seconds          that it took; score of max, the sums of earned and points
#   is_open          whether it was compiled unconfined (tools/teach/Limits.pm)
#   compiled         {'02' => undef, or what the compiler said}
#   exercises        of each id, chapter, function, title, points, earned, state
#                    (done, wrong, empty, waits, uncompiled, missing or refused),
#                    waits_for (an id), message (what is wrong first), diagnosis (what it may
#                    be), and tests: name, ok, told (of Chapter::run_tests)
#
# What a student's code prints may hold anything. Here it becomes characters that
# every format can hold (tools/Text.pm), and as many as fit.

use strict;
use warnings;
use utf8;
use Encode qw(encode);
use JSON::PP;
use List::Util qw(first max min sum0);
use MIME::Base64 qw(encode_base64);
use POSIX qw(strftime);
use Text;

my %WRITER = (table => \&_table, csv => \&_csv, gradescope => \&_gradescope, github => \&_github);
my %STATES = map { $_ => 1 } qw(done wrong empty waits uncompiled missing refused);

# The most bytes. What a step of a workflow hands on goes through the environment, in
# which Linux has 128 KB for one variable.
my %MOST  = (github => 100_000);
my $MOST  = 1_000_000;
my $LONG  = 4096; # characters of each text, and fewer where that is too much
my $LINE = 200;  # characters of a message, which is one line
my $SHOWN = 3;    # tests that fail, of each exercise: the others mostly follow
my @TOLD  = qw(wrong given gave due printed);

sub formats { return sort keys %WRITER }

# Returns what is to be written in UTF-8, as characters. Dies with one line where that
# cannot be, or would not be true.
sub write {
    my ($format, $result) = @_;
    my $writer = $WRITER{$format // ''}
      or die "there is no format '" . ($format // '') . "': one of @{[formats()]} is needed\n";
    _check($result);
    my $most = $MOST{$format} // $MOST;
    for (my $long = $LONG; $long >= 16; $long /= 2) {
        my $text = $writer->(_told($result, $long));
        utf8::encode(my $bytes = $text);
        return $text if length $bytes <= $most;
    }
    die "$result->{name}: its report is longer than the $most bytes that $format takes\n";
}

# What has nothing to grade would be 0 of 0, which other tools take for full marks.
sub _check {
    my ($result) = @_;
    my ($name, @exercises) = ($result->{name} // 'a submission', @{$result->{exercises} // []});
    die "$name: there is nothing to grade: an exercise with points is needed\n"
      if !@exercises || !$result->{max};
    for my $exercise (@exercises) {
        my ($id, $state, $earned, $points) = @$exercise{qw(id state earned points)};
        die "$name: exercise $id is '$state': one of @{[sort keys %STATES]} is needed\n"
          if !$STATES{$state};
        die "$name: exercise $id earns $earned of $points points, and is $state: from 0 to $points are "
          . "needed, and $points only when it is done\n"
          if "$earned $points" !~ /^\d+ [1-9]\d*$/
          || ($state eq 'done' ? $earned != $points : $earned >= $points);
    }
    my ($score, $max) = map { my $key = $_; sum0 map { $_->{$key} } @exercises } qw(earned points);
    die "$name: a score of $result->{score} / $result->{max} is not the sum of its exercises, $score / $max\n"
      if $result->{score} != $score || $result->{max} != $max;
}

# ---- What all formats say.

# A copy of the result: texts are clean, numbers are numbers, and each exercise that
# is not done has a message.
sub _told {
    my ($result, $long) = @_;
    my $clean = sub { Text::safe($_[0], $long) };
    my $said  = $result->{compiled} // {};
    my $told  = {name => $clean->($result->{name}), who => $clean->($result->{who}),
        seconds => 0 + sprintf('%.3f', $result->{seconds} // 0), score => 0 + $result->{score},
        max => 0 + $result->{max}, ($result->{is_open} ? (is_open => JSON::PP::true) : ()), compiled => {map { $clean->($_) => $clean->($said->{$_}) } keys %$said}};
    for my $exercise (@{$result->{exercises}}) {
        my %own = map { $_ => $clean->($exercise->{$_}) }
          qw(id chapter function title state waits_for message diagnosis);
        @own{qw(points earned)} = map { 0 + $exercise->{$_} } qw(points earned);
        my ($failed, @tests) = (0, @{$exercise->{tests} // []});
        $own{tests} = [map { _told_test($_, $clean, !$_->{ok} && $failed++ < $SHOWN) } @tests];
        $own{message} = substr _first_message(\%own, $told->{compiled}), 0, $LINE;
        push @{$told->{exercises}}, \%own;
    }
    return $told;
}

sub _told_test {
    my ($test, $clean, $is_shown) = @_;
    my @keys = $is_shown ? grep { length($test->{told}{$_} // '') } @TOLD : ();
    my %told = map { $_ => $clean->($test->{told}{$_}) } @keys;
    return {name => $clean->($test->{name}), ok => $test->{ok} ? JSON::PP::true : JSON::PP::false,
        told => \%told};
}

sub _first_message {
    my ($exercise, $compiled) = @_;
    my ($state, $chapter) = @$exercise{qw(state chapter)};
    my ($message) = ($exercise->{message} // '') =~ /(\S.*)/;
    return '' if $state eq 'done';
    return 'waits for exercise ' . ($exercise->{waits_for} // '?') if $state eq 'waits';
    return $message if defined $message;
    return join ': ', "chapter $chapter does not compile", error_of($compiled->{$chapter}) if $state eq 'uncompiled';
    return "exercise $exercise->{id} is still empty" if $state eq 'empty';
    return "$exercise->{function} is missing" if $state eq 'missing';
    my ($failed) = grep { !$_->{ok} } @{$exercise->{tests}};
    return $failed ? "$failed->{name} fails" : 'it is wrong';
}

# Of what a compiler says, the line that says it best.
sub error_of {
    my @lines = grep { /\S/ } split /\n/, $_[0] // '';
    return (first { /\berror\b/ } @lines) // $lines[0] // ();
}

sub _label { return "$_[0]{id} $_[0]{function}" }

sub _is_done { return $_[0]{state} eq 'done' ? JSON::PP::true : JSON::PP::false }

sub _perhaps { return length($_[0]{diagnosis} // '') ? "perhaps: $_[0]{diagnosis}" : () }

# What a learner reads of an exercise, as lines: of the tests that fail at most so many.
sub _lines {
    my ($exercise, $most) = @_;
    return 'done' if $exercise->{state} eq 'done';
    my @failed = $exercise->{state} eq 'wrong' ? grep { !$_->{ok} } @{$exercise->{tests}} : ();
    # The message is that of the first of them.
    my @lines = (@failed ? () : $exercise->{message}, _perhaps($exercise));
    $most = min($most // $SHOWN, scalar @failed);
    for my $test (@failed[0 .. $most - 1]) {
        push @lines, "FAILED  $test->{name}";
        for my $key (@TOLD) {
            my @told = split /\n/, $test->{told}{$key} // '';
            @told = ('...', @told[-$SHOWN .. -1]) if $key eq 'printed' && @told > $SHOWN;
            push @lines, map { sprintf '        %-8s %s', $_ ? '' : $key, $told[$_] } 0 .. $#told;
        }
    }
    push @lines, 'and ' . (@failed - $most) . ' more' if @failed > $most;
    return @lines;
}

sub _text { return join "\n", _lines($_[0]) }

# The chapters that do not compile: what the compiler says of each.
sub _uncompiled {
    my ($told) = @_;
    my %is = map { $_->{chapter} => 1 } grep { $_->{state} eq 'uncompiled' } @{$told->{exercises}};
    return map { "chapter $_ does not compile:\n" . ($told->{compiled}{$_} // '') =~ s/\s+\z//r } sort keys %is;
}

sub _score {
    my ($told) = @_;
    return join "\n", "score: $told->{score} / $told->{max}",
      $told->{is_open} ? 'compiled unconfined (UNCONFINED=1): it could include what others have written' : ();
}

sub _summary { return join "\n", _uncompiled($_[0]), _score($_[0]) }

sub _as_json { return JSON::PP->new->canonical->pretty->indent_length(1)->encode($_[0]) }

# ---- The formats. Each returns characters.

# The first screen says how far all is; and then of each that is wrong its first test
# that fails, and what the compiler says.
sub _table {
    my ($told) = @_;
    my @exercises = @{$told->{exercises}};
    my ($wide) = max map { length _label($_) } @exercises;
    my @whose = ($told->{name}, map { Text::line($_) } $told->{who} // ());
    my @lines = (join(', ', @whose), '');
    for (@exercises) {
        my ($all, $failed) = (scalar @{$_->{tests}}, scalar grep { !$_->{ok} } @{$_->{tests}});
        push @lines, sprintf "%-*s  %2d / %-2d  %-10s  %s", $wide, _label($_), @$_{qw(earned points state)},
          $_->{state} eq 'wrong' && $failed ? "$failed of $all tests fail" : $_->{state} eq 'empty' ? '' : $_->{message};
    }
    push @lines, _score($told);
    push @lines, '', _uncompiled($told) if _uncompiled($told);
    for (grep { $_->{state} eq 'wrong' } @exercises) {
        push @lines, '', _label($_), map {"    $_"} map { split /\n/ } _lines($_, 1);
    }
    return join '', map { s/ +\z//r . "\n" } @lines;
}

sub _gradescope {
    my ($told) = @_;
    my @tests = map { +{name => _label($_), number => $_->{id}, score => $_->{earned}, max_score => $_->{points},
        status => _is_done($_) ? 'passed' : 'failed', output => _text($_), output_format => 'text',
        tags => ["chapter $_->{chapter}"], visibility => 'visible'} } @{$told->{exercises}};
    return _as_json({score => $told->{score}, execution_time => $told->{seconds}, output => _summary($told),
        output_format => 'text', visibility => 'visible', stdout_visibility => 'hidden', tests => \@tests});
}

# What did not run is an error there, and no failure.
sub _github {
    my ($told) = @_;
    my @tests = map { +{name => _label($_), status => _status($_), score => $_->{earned}, message => _text($_),
        test_code => "make test-$_->{chapter}", filename => '', line_no => 0, duration => 0} }
      @{$told->{exercises}};
    my %is = map { $_->{status} => 1 } @tests;
    my $all = {version => 1, status => (first { $is{$_} } qw(error fail pass)), max_score => $told->{max},
        tests => \@tests};
    return encode_base64(encode('UTF-8', JSON::PP->new->canonical->encode($all)), '') . "\n";
}

sub _status {
    my ($exercise) = @_;
    return $exercise->{state} eq 'done'                          ? 'pass'
      : $exercise->{state} =~ /^(?:uncompiled|missing|refused)$/ ? 'error'
      :                                                            'fail';
}

sub _csv {
    my ($told) = @_;
    my @keys = qw(id function title points earned state message);
    return Text::csv(['name', 'who', 'exercise', @keys[1 .. $#keys]],
        map { [@$told{qw(name who)}, @$_{@keys}] } @{$told->{exercises}});
}

1;
