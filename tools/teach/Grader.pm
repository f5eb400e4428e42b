package Grader;

# Grades a submission: what it says is compiled, and called by the judge of each
# chapter (tools/teach/grader/remote.h), which has the tests and what is due. Nothing that
# a submission prints, and no status with which it ends, counts.
#
# The submission is compiled by itself: with the headers and what C brings along,
# and nothing else of the book, least of all its solutions.

use strict;
use warnings;
use utf8;
use Chapter;
use Diagnosis;
use Headers;
use Limits;
use State;
use Submission;
use Text;
use Cwd qw(abs_path);
use Fcntl qw(:mode);
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use File::Glob qw(bsd_glob);
use File::Path qw(remove_tree);
use File::Spec;
use File::Temp qw(tempdir);
use List::Util qw(uniq);
use POSIX ();
use Time::HiRes qw(time);

my $ROOT = dirname(dirname(dirname(abs_path(__FILE__))));
my $NOBODY  = 65534;
my $OLD     = 3600; # seconds; what grades is never as long at work

# ---- A submission

# What keeps a chapter's text from being graded, and how that is called; or nothing.
sub fault_of {
    my ($name, $text) = @_;
    return ("there is no $name.c", 'missing') if !exists $text->{$name};
    return ("$name.c is a link, or no file: a file is needed", 'refused') if !defined $text->{$name};
    return ("$name.c has more than $Submission::LARGEST bytes: no more are read", 'refused')
      if length $text->{$name} > $Submission::LARGEST;
    return;
}

# The name of a chapter's file, and of those of an assignment.
sub name_of {
    my ($number) = @_;
    my ($path) = grep { m{/\Q$number\E_[^/]*\.c\z} } bsd_glob(Text::path("$ROOT/chapters") . '/*.c');
    return basename($path // die("there is no chapter $number\n"), '.c');
}
sub chapters {
    my ($assignment) = @_;
    my %seen = map { $_->{chapter} => 1 } @{$assignment->{exercises}};
    return map { name_of($_) } sort keys %seen;
}

# The book's headers, as a submission includes them.
sub headers { return Headers::files(Headers->load("$ROOT/src/attention.h")) }

# Compiles a chapter in a folder and links it with its runner. Returns what is wrong, or
# nothing. Whatever of C and of assembler is in it, it can say nothing but to its own
# process, which is confined likewise; what others have in mind, such as a main, the runner
# has, too, and the linker refuses it twice. No bytecode is linked: the linker would compile it.
sub build {
    my ($how, $folder, $text, $name) = @_;
    open my $chapter, '>:raw', "$folder/$name.c" or die "$folder: $!\n";
    print $chapter $text;
    close $chapter or die "$folder: $!\n";
    my %part = (map({ s{^\Q$ROOT/src/\E}{}r => $_ } headers()), map { basename($_) => $_ }
        "$how->{build}/grader/run.o", "$how->{build}/grader/$name.a");
    for my $to (map {"$folder/$_"} uniq map { m{^(.*)/} } sort keys %part) {
        -d $to or mkdir $to and chmod 0755, $to or die "$to: $!\n";
    }
    for my $to (sort keys %part) {
        copy($part{$to}, "$folder/$to") or die "$part{$to}: $!: it is needed in $folder\n";
    }
    chmod 0644, map {"$folder/$_"} "$name.c", keys %part;
    my @flags   = @{$how->{flags}{$name} // $how->{flags}{''}};
    my @compile = (@{$how->{cc}}, @flags, @{$how->{unset}}, '-I.', qw(-fstack-protector-strong -fno-lto -c));
    my @link    = (@{$how->{cc}}, qw(-static -fno-lto), @{$how->{plain}});
    my @behind  = (@{$how->{libraries}{$name} // []}, '-lm');
    my $make    = sub { Limits::compiler($how->{build}, $folder, 20, @_) };
    my ($number) = $name =~ /^([^_]+)/;
    my $wrong = $make->(@compile, "-Dmain=main_$number", "$name.c", '-o', "$name.o")
      || $make->(@link, "$name.o", 'run.o', "$name.a", @behind, '-o', $name) or return;
    # Does it do so to everyone?
    open my $file, '>', "$folder/sound.c" or die "$folder: $!\n";
    print $file qq{#include "attention.h"\nint main(void)\n{\n    return 0;\n}\n};
    close $file or die "$folder: $!\n";
    my $ours = $make->(@compile, 'sound.c', '-o', 'sound.o')
      || $make->(@link, 'sound.o', @behind, '-o', 'sound');
    die 'nothing can be compiled here: ' . _error($ours) . "\n" if $ours;
    return index($wrong, _error($wrong)) ? _error($wrong) . "\n$wrong" : $wrong;
}

# The first line that tells what is wrong.
sub _error {
    my ($said) = @_;
    my @lines = grep { /\S/ } split /\n/, $said;
    return (grep({/\berror\b|undefined|multiple definition|cannot/i} @lines), @lines)[0];
}

# Runs the judge of a chapter on what was built. Its tests may fail, or not end; that it
# does not do its own work is no fault of a submission's.
sub judged {
    my ($how, $folder, $name, $assignment, @functions) = @_;
    my %told = (GRADED => "$folder/$name", TAP_ONLY => "@functions", TAP_SECONDS => $assignment->{test_seconds} // 5);
    my ($said, $status, $stopped) = Limits::limited($assignment->{seconds}, \%told, "$how->{build}/grader/$name.judge");
    Limits::cannot_run('they cannot be begun') if $status == 128 + POSIX::SIGUSR1;
    my @tests = Chapter::tests_of("the judge of chapter $name", [split /\n/, $said], $status);
    my ($fault) = grep { $_->{name} =~ /^the judge of/ } @tests;
    die "$fault->{name}: make graders makes it again\n" if $fault && !$stopped;
    for my $told (map { $_->{told} } @tests) { $_ = Limits::plain($_) for values %$told }
    return grep { $_->{name} !~ /^the judge of/ } @tests;
}

# How far an exercise is (State::of), with what is said of it, and for which other one it
# waits. So many tests are due.
sub state_of {
    my ($of, $due) = @_;
    my ($state, $for, $own, $bad) = @$of{qw(state for own bad)};
    return ('wrong', 'its tests did not end in time') if @$own < $due && !@$bad;
    return ($state, '') if $state eq 'done';
    return ($state, 'still empty') if $state eq 'empty';
    return ($state, "waits for exercise $for, which it calls", $for) if $state eq 'waits';
    my ($first) = grep { !@{$_->{empty}} } @$bad;
    my $words = $first->{told}{wrong} // 'is wrong';
    return ('wrong', "$first->{name}: " . $words =~ s/\n.*//sr);
}

# Which known mistake it may be, in words.
my %known;
sub diagnosis {
    my ($number, $exercise, @tests) = @_;
    $known{$number} //= Diagnosis::load($ROOT, $number);
    my @names = Diagnosis::names($known{$number}, $exercise->{function},
        Diagnosis::of_tests($exercise->{function}, @tests));
    return @names ? join(', or: ', @names) : undef;
}

# A folder, and in it one for the compiler, which writes there as the user nobody, as
# whom a submission runs. Nobody lists what is in it. Who was killed has left such folders
# behind: they go when they are old and their process has gone.
sub workplace {
    for my $old (bsd_glob(Text::path(File::Spec->tmpdir) . '/grade-*')) {
        my ($pid) = $old =~ /-(\d+)-\w+\z/ or next;
        my @about = lstat $old or next;
        my $is_ours = S_ISDIR($about[2]) && $about[4] == $> && time - $about[9] > $OLD;
        remove_tree($old) if $is_ours && !kill(0, $pid) && $!{ESRCH};
    }
    my $folder = tempdir("grade-$$-XXXXXX", TMPDIR => 1, CLEANUP => 1);
    mkdir "$folder/work" or die "$folder: $!\n";
    $> == 0 and chown $NOBODY, $NOBODY, "$folder/work";
    chmod 0711, $folder, "$folder/work";
    return "$folder/work";
}

# Grades chapters, as Submission finds them. Returns the result as Report takes it.
sub grade {
    my ($how, $assignment, $text) = @_;
    my ($begun, %by_chapter) = time;
    push @{$by_chapter{$_->{chapter}}}, $_ for @{$assignment->{exercises}};
    must_be_made($how, $by_chapter{$_}) for sort keys %by_chapter;
    my $folder = workplace();
    my $result = {name => $assignment->{name}, who => undef, score => 0, max => 0, compiled => {},
        exercises => [], is_open => Limits::is_open($how->{build}, $folder)};
    my ($left, @numbers) = ($assignment->{seconds} // 60, sort keys %by_chapter);
    while (defined(my $number = shift @numbers)) { # what one does not need is for those that follow
        my %each = (%$assignment, seconds => $left / (1 + @numbers));
        $left -= grade_chapter($how, \%each, $text, $folder, $result, @{$by_chapter{$number}});
    }
    $result->{seconds} = time - $begun;
    return $result;
}

# What grades a chapter must be there, and have tests for all that is graded.
sub must_be_made {
    my ($how, $exercises) = @_;
    my $number = $exercises->[0]{chapter};
    my $name   = name_of($number);
    my @needed = map {"$how->{build}/grader/$_"} 'run.o', 'confined', map {"$name.$_"} qw(judge a tests);
    my ($lost) = grep { !-s } @needed;
    die "$lost is not there: make graders CHAPTER=$number makes it\n" if $lost;
    my ($untested) = grep { !$how->{due}{$name}{$_} } map { $_->{function} } @$exercises;
    die "$needed[-1] has no test of $untested: make graders CHAPTER=$number makes it again\n" if $untested;
}

# Grades the exercises of one chapter, and adds them to the result. Returns the seconds that
# its tests took.
sub grade_chapter {
    my ($how, $assignment, $text, $folder, $result, @exercises) = @_;
    my $number = $exercises[0]{chapter};
    my $name   = name_of($number);
    my ($fault, $called) = fault_of($name, $text);
    my $wrong = $fault // build($how, $folder, $text->{$name}, $name);
    $result->{compiled}{$number} = $wrong;
    my @said = $called ? ($called, $fault)
      : $wrong         ? ('uncompiled', 'does not compile: ' . $wrong =~ s/\n.*//sr) : ();
    my $begun = time;
    my @tests = @said ? () : judged($how, $folder, $name, $assignment, map { $_->{function} } @exercises);
    my $took = time - $begun;
    my @lines = @said ? () : split /\r?\n/, $text->{$name};
    for my $of (State::of(\@exercises, \@lines, @tests)) {
        my $exercise = $of->{exercise};
        my $due = $how->{due}{$name}{$exercise->{function}};
        my ($state, $message, $for) = @said ? @said : state_of($of, $due);
        my $earned  = $state eq 'done' ? $exercise->{points} : 0;
        my $perhaps = $state eq 'wrong' ? diagnosis($number, $exercise, @tests) : undef;
        push @{$result->{exercises}}, {%$exercise, earned => $earned, state => $state, waits_for => $for,
            message => $message, diagnosis => $perhaps, tests => $of->{own}};
        $result->{score} += $earned;
        $result->{max} += $exercise->{points};
    }
    return $took;
}

# What the Makefile knows: how C is compiled, and how many tests each exercise has.
sub how {
    my $build = $ENV{BUILD} // 'build';
    my %how = (build => abs_path($build), flags => {}, libraries => {}, due => {});
    for (lines_of("$build/grader/how")) {
        my ($key, $name, $words) = /^(\w+)(?:\.(\w+))? ?(.*)/ or next;
        my @words = split ' ', $words;
        if ($key =~ /^(?:cc|unset|plain)$/) { $how{$key} = \@words }
        else                                { $how{$key}{$name // ''} = \@words }
    }
    for my $list (bsd_glob(Text::path("$build/grader") . '/*.tests')) {
        my $name = basename($list, '.tests');
        /^(\w+):/ and $how{due}{$name}{$1}++ for lines_of($list);
    }
    return \%how;
}

sub lines_of {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path or die "$path: $!: make graders makes it\n";
    chomp(my @lines = <$file>);
    return @lines;
}

1;
