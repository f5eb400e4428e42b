package Grader;

# Grades a submission: it is compiled and run in a jail (Jail.pm), and the judge of each
# chapter calls it (grader/remote.h), which has the tests and what is due. Nothing that a
# submission prints, and no status with which it ends, counts.
#
# The submission is compiled by itself: with the headers and what C brings along,
# and nothing else of the book, least of all its solutions.

use strict;
use warnings;
use utf8;
use Chapter;
use Diagnosis;
use Headers;
use Jail;
use State;
use Submission;
use Text;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Copy qw(cp);
use File::Glob qw(bsd_glob);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use IO::Socket::UNIX;
use List::Util qw(uniq);
use Time::HiRes qw(time);

my $AGAIN = "remove build/grader, and make graders, with NAME or CHAPTER, makes it again\n";
my $ROOT = dirname(dirname(dirname(abs_path(__FILE__))));

# The name of a chapter's file, and of those of an assignment.
sub name_of {
    my ($number) = @_;
    my ($path) = grep { m{/\Q$number\E_[^/]*\.c\z} } bsd_glob(Text::path("$ROOT/chapters") . '/*.c');
    return basename($path // die("there is no chapter $number\n"), '.c');
}
sub chapters { return map { name_of($_) } sort +uniq map { $_->{chapter} } @{$_[0]{exercises}} }

# What the Makefile knows: how C is compiled, and how many tests each exercise has.
sub how {
    my %how = (build => abs_path($ENV{BUILD} // 'build'), due => {});
    for (_lines("$how{build}/grader/how")) {
        my ($key, $words) = split ' ', $_, 2;
        $how{$key} = [split ' ', $words // ''];
    }
    for my $list (bsd_glob(Text::path("$how{build}/grader") . '/*.tests')) {
        /^(\w+):/ and $how{due}{basename($list, '.tests')}{$1}++ for _lines($list);
    }
    return \%how;
}
sub _lines { return split /\n/, eval { Text::of_file($_[0]) } // die "$_[0] is not there: make graders, with NAME or CHAPTER, makes it\n" }

# Dies with one line if something is not there by which this assignment is graded.
sub check {
    my ($how, $assignment) = @_;
    my @parts = ((map { my $name = $_; map {"$how->{build}/grader/$name.$_"} qw(judge a tests) } chapters($assignment)),
        "$how->{build}/grader/run.o", map {"$how->{build}/mistakes/$_->{chapter}.json"} @{$assignment->{exercises}});
    my ($lost) = grep { !-s } @parts;
    die "$lost is not there: make graders, with NAME or CHAPTER, makes it\n" if $lost;
}
sub _headers { return Headers::files(Headers->load("$ROOT/src/attention.h")) }

# Grades chapters, as Submission finds them. Returns the result as Report takes it.
sub grade {
    my ($how, $assignment, $text) = @_;
    my ($begun, %of_chapter) = time;
    push @{$of_chapter{$_->{chapter}}}, $_ for @{$assignment->{exercises}};
    check($how, $assignment);

    my $jail = Jail->new(tempdir("grade-$$-XXXXXX", TMPDIR => 1, CLEANUP => 1), $how->{cc}, $ROOT, $how->{build});
    my $result = {name => $assignment->{name}, who => undef, score => 0, max => 0, compiled => {},
        exercises => [], open => $jail->{open}};
    my $seconds = $assignment->{seconds} / keys %of_chapter;
    _grade_chapter($how, $jail, $seconds, $text, $result, @{$of_chapter{$_}}) for sort keys %of_chapter;
    $result->{seconds} = time - $begun;
    return $result;
}

# Grades the exercises of one chapter, and adds them to the result.
sub _grade_chapter {
    my ($how, $jail, $seconds, $text, $result, @exercises) = @_;
    my $number = $exercises[0]{chapter};
    my $name   = name_of($number);
    my ($untested) = grep { !$how->{due}{$name}{$_} } map { $_->{function} } @exercises;
    die "$name.tests has no test of $untested: $AGAIN" if $untested;
    my $most = $Submission::LARGEST;
    my @said = !exists $text->{$name} ? ('missing', "there is no $name.c, or it is a link")
      : length $text->{$name} > $most ? ('refused', "$name.c has more than $most bytes: no more are read")
      :                                 ();
    my $wrong = @said ? $said[1] : _compile($how, $jail, $text->{$name}, $name);
    $result->{compiled}{$number} = $wrong;
    @said = ('uncompiled', 'does not compile: ' . $wrong =~ s/\n.*//sr) if $wrong && !@said;
    my @tests = @said ? () : _judged($how, $jail, $name, $seconds, map { $_->{function} } @exercises);
    my @lines = @said ? () : split /\r?\n/, $text->{$name};
    for my $of (State::of(\@exercises, \@lines, @tests)) {
        my $exercise = $of->{exercise};
        my ($state, $message) = @said ? @said : _state_of($of, $how->{due}{$name}{$exercise->{function}});
        my $earned  = $state eq 'done' ? $exercise->{points} : 0;
        my $perhaps = $state eq 'wrong' ? _diagnosis($number, $exercise, @tests) : undef;
        push @{$result->{exercises}},
          {%$exercise, earned => $earned, state => $state, message => $message, diagnosis => $perhaps,
            tests => $of->{own}};
        $result->{score} += $earned;
        $result->{max} += $exercise->{points};
    }
}

# Compiles a chapter and links it with its runner. Returns what is wrong, or nothing.
sub _compile {
    my ($how, $jail, $text, $name) = @_;
    my $folder = $jail->enter($name);
    open my $file, '>:raw', "$folder/$name.c" or die "$folder: $!\n";
    print $file $text;
    close $file or die "$folder: $!\n";
    my %part = (map({ s{^\Q$ROOT/src/\E}{}r => $_ } _headers()),
        map { basename($_) => $_ } map {"$how->{build}/grader/$_"} 'run.o', "$name.a");
    make_path(map { dirname("$folder/$_") } keys %part);
    chmod 0755, map { dirname("$folder/$_") } grep {m{/}} keys %part;
    for my $to (sort keys %part) {
        cp($part{$to}, "$folder/$to") or die "$part{$to}: $!: it is needed in $folder\n";
    }
    chmod 0644, map {"$folder/$_"} "$name.c", keys %part;
    my @cc = @{$how->{cc}};
    my ($number) = $name =~ /^([^_]+)/;
    for my $command ([@cc, @{$how->{"flags.$name"} // $how->{flags}}, qw(-I. -c), "-Dmain=main_$number", "$name.c"],
        [@cc, "$name.o", 'run.o', "$name.a", @{$how->{"libraries.$name"} // []}, '-lm', '-o', $name]) {
        my ($said, $status, $stopped) = $jail->compile(20, @$command);
        next if !$status && !$stopped;
        die "the compiler cannot work: $1\n" if $said =~ /(No space left on device|[Cc]annot fork)/;
        return 'the compiler did not end in time' if $stopped;
        # What tells what is wrong comes first.
        my @lines = grep { /\S/ } split /\n/, $said;
        my ($error) = (grep({ /\berror\b|undefined|multiple definition|cannot/i } @lines), @lines);
        return join "\n", grep({ $_ ne ($lines[0] // '') } $error // "the compiler ended with status $status"), $said;
    }
    return;
}

# Runs what was compiled, and its judge, which calls it. Its tests may fail, or not end; that
# the judge does not do its own work is no fault of a submission's.
sub _judged {
    my ($how, $jail, $name, $seconds, @functions) = @_;
    my $place = "$jail->{place}/socket";
    die "$place: too long for the name of a socket: a shorter TMPDIR is needed\n" if length $place > 100;
    my $socket = IO::Socket::UNIX->new(Local => $place, Listen => 9) or die "$place: $! $@\n";
    my $of_test = $ENV{TAP_SECONDS} // 5;
    my $running = $jail->run($of_test, $socket, $name);
    close $socket;
    my %told = (GRADED => $place, TAP_ONLY => "@functions", TAP_SECONDS => $of_test);
    my ($said, $status, $stopped) =
      Jail::finished(Jail::begin(\%told, undef, "$how->{build}/grader/$name.judge"), $seconds);
    $jail->stop($running);
    unlink $place;
    my @tests = Chapter::tests_of("the judge of chapter $name", [split /\n/, $said], $status);
    my ($fault) = grep { $_->{name} =~ /^the judge of/ } @tests;
    die "$fault->{name}: $AGAIN" if $fault && !$stopped;
    return grep { $_->{name} !~ /^the judge of/ } @tests;
}

# How far an exercise is (State::of), with what is said of it. So many tests are due.
sub _state_of {
    my ($of, $due) = @_;
    my ($state, $for, $own, $bad) = @$of{qw(state for own bad)};
    return ('wrong', 'its tests did not end in time') if @$own < $due && !@$bad;
    return ($state, '') if $state eq 'done';
    return ($state, 'still empty') if $state eq 'empty';
    return ($state, "waits for exercise $for, which it calls") if $state eq 'waits';
    my ($first) = grep { !@{$_->{empty}} } @$bad;
    my $words = $first->{told}{wrong} // 'is wrong';
    return ('wrong', "$first->{name}: " . $words =~ s/\n.*//sr);
}

# Which known mistake it may be, in words.
sub _diagnosis {
    my ($number, $exercise, @tests) = @_;
    my $its = $exercise->{function};
    my @names = Diagnosis::names(Diagnosis::load($ROOT, $number), $its, Diagnosis::of_tests($its, @tests));
    return @names ? join(', or: ', @names) : undef;
}

1;
