package Grader;

# Grades a submission: what it says is compiled, and called by the judge of each
# chapter (tools/grader/remote.h), which has the tests and what is due. Nothing that
# a submission prints, and no status with which it ends, counts.
#
# The submission is compiled by itself: with attention.h and what C brings along,
# and nothing else of the book, least of all its solutions.

use strict;
use warnings;
use utf8;
use Chapter;
use Diagnosis;
use Cwd qw(abs_path);
use Encode qw(decode);
use Fcntl qw(:mode);
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use POSIX ();
use Time::HiRes qw(time);

my $ROOT = dirname(dirname(abs_path(__FILE__)));
my $LARGEST = 1_000_000; # bytes of a chapter; the longest of the book has a tenth
my $PRINTED = 4_000_000; # bytes of what the judge or the compiler says
my $TEMPORARY;           # the folder that goes with the submission

# ---- Commands that must end

# Runs a command (a list) in a process group of its own, with nothing to read, for at
# most so many seconds. Returns what it has printed, its status, and whether it was
# stopped. No process of the group is left.
sub limited {
    my ($seconds, $environment, @command) = @_;
    pipe(my $from, my $to) or die "no pipe: $!\n";
    my $pid = fork // die "no process can be started: $!\n";
    if (!$pid) {
        setpgrp(0, 0);
        open STDIN, '<', '/dev/null';
        open STDOUT, '>&', $to;
        open STDERR, '>&', $to;
        close $from;
        %ENV = (PATH => $ENV{PATH}, LC_ALL => 'C', %$environment);
        exec {$command[0]} @command or POSIX::_exit(127);
    }
    setpgrp($pid, $pid);
    local @SIG{qw(INT TERM HUP)} = (sub { kill KILL => -$pid; exit 1 }) x 3;
    close $to;
    my ($said, $end, $stopped) = ('', time + $seconds, 0);
    while (1) {
        my $left = $end - time;
        my $ready = '';
        vec($ready, fileno $from, 1) = 1;
        if ($left <= 0 || !select $ready, undef, undef, $left) { $stopped = 1; last }
        sysread $from, my $more, 65536 or last;
        $said .= $more if length $said < $PRINTED;
    }
    kill KILL => -$pid if $stopped;
    waitpid $pid, 0;
    my $status = $?;
    kill KILL => -$pid;
    return (plain(decode('UTF-8', $said)), $status & 127 ? 128 + ($status & 127) : $status >> 8, $stopped);
}

# A text without what commands a terminal, or turns a line around.
sub plain {
    my ($text) = @_;
    return $text =~ s/([^\P{Cc}\t\n]|[\x{202a}-\x{202e}\x{2066}-\x{2069}])/sprintf '\\x%02x', ord $1/ger;
}

# The compiler, which a submission can make work for ever or for all memory: so many
# seconds. Returns what it has printed, and what is wrong.
sub compiler {
    my ($seconds, @command) = @_;
    my ($said, $status, $stopped) = limited($seconds + 10, {TMPDIR => $TEMPORARY // '/tmp'}, '/bin/sh', '-c',
        "ulimit -t $seconds; ulimit -v 4000000; ulimit -f 200000; ulimit -c 0; exec \"\$@\"", 'sh', @command);
    return ($said, $stopped ? "the compiler did not end in $seconds s\n" : !$status ? ''
          : $said || "the compiler ended with status $status\n");
}

# ---- A submission

# A chapter's file in the folder: below chapters/, or by itself.
sub file_of {
    my ($work, $name) = @_;
    my ($path) = grep { -l $_ || -e _ } "$work/chapters/$name.c", "$work/$name.c";
    return (undef, "there is no $name.c") if !defined $path;
    my @about = lstat $path;
    return (undef, "$name.c is a link, or no file: a file is needed")
      if !S_ISREG($about[2]) || -l dirname($path);
    return (undef, "$name.c has $about[7] bytes: at most $LARGEST are read") if $about[7] > $LARGEST;
    return ($path, undef);
}

# The names of an assignment's chapters.
sub chapters {
    my ($assignment) = @_;
    my %seen = map { $_->{chapter} => 1 } @{$assignment->{exercises}};
    return map { basename($_, '.c') } map { glob "$ROOT/chapters/${_}_*.c" } sort keys %seen;
}

# What a chapter's text says to the preprocessor that none may say, or nothing: read before
# any compiler does, whose messages would show a file's lines, and which takes what is
# found by way of /usr/include/../.. for C's own. Lines that only look like it, as in a
# comment, are taken for it: who writes them reads why.
sub told_the_preprocessor {
    my ($source) = @_;
    open my $file, '<:raw', $source or return "it cannot be read: $!\n";
    my $text = do { local $/; <$file> } // '';
    $text =~ s/\A\xEF\xBB\xBF//;
    return "it has a byte 0 in it\n" if $text =~ /\0/;
    $text =~ s/\r\n?/\n/g;
    $text =~ s/\?\?\//\\/g;
    $text =~ s/\\[ \t\f\x0b]*\n//g;
    my $blank = qr{(?:[ \t\f\x0b]|/\*.*?\*/)*}s;
    while ($text =~ m{^(?:[^\n]*\*/)?$blank(?:\#|%:|\?\?=)$blank(\w+)$blank([^\n]*)}mg) {
        my ($word, $rest) = ($1, $2);
        return "it names another file and line as its own\n" if $word =~ /^\d+$/ && $rest =~ /^"/;
        return "it includes $rest: attention.h and C's own headers are all there is\n"
          if $word =~ /^(?:include_next|import|embed|__include_macros)$/ && $rest =~ /^[<"]/
          || $word eq 'include' && ($rest !~ m{^(?:<[\w+-][\w.+/-]*>|"[\w+-][\w.+/-]*")} || $rest =~ m{^[<"][^>"]*\.\.});
    }
    return;
}

# What the assembler is told that no C says, or nothing. A string in C can hold lines
# for the assembler, as of an attribute; so all that has quotes must look like the compiler's.
sub told_the_assembler {
    my ($path) = @_;
    open my $file, '<:raw', $path or return "it cannot be read: $!\n";
    while (<$file>) {
        next if /^\s*\.(?:string|ascii|asciz|ident)\s+"(?:[^"\\]|\\.)*"(?:\\0)?\s*$/;
        return "it has assembler in it: C alone is graded\n"
          if /\.(?:incbin|include|macro|irpc?|altmacro|rept?)\b/i || !/^[^"']*(?:"[^"\\']*"[^"']*)*$/;
    }
    return;
}

# What keeps a chapter from being compiled by itself, or nothing: files of others, and
# what goes around C.
sub not_by_itself {
    my ($cc, $source) = @_;
    my $told = told_the_preprocessor($source);
    return $told if $told;
    my ($said, $wrong) = compiler(10, @$cc, '-MM', '-MG', $source);
    return $wrong if $wrong;
    $said =~ s/^[^:]*://;
    $said =~ s/\\\n/ /g;
    my @others = grep { $_ ne $source && $_ ne "$ROOT/src/attention.h" } $said =~ /((?:\\.|\S)+)/g;
    return "it includes $others[0]: attention.h and C's own headers are all there is\n" if @others;
    ($said, $wrong) = compiler(10, @$cc, '-E', $source);
    return $wrong if $wrong;
    my $depth = 0;
    for (split /\n/, $said) {
        if (/^# \d+ ".*"((?: \d)*)$/) { $depth += $1 =~ /1/ ? 1 : $1 =~ /2/ ? -1 : 0; next }
        return "it has assembler in it: C alone is graded\n"
          if !$depth && s/"(?:[^"\\]|\\.)*"//gr =~ /\b(?:__asm|__asm__)\b/;
    }
    return;
}

# Compiles a chapter and links it with its runner. Returns what is wrong, or nothing.
sub build {
    my ($how, $folder, $path, $name) = @_;
    my $source = "$folder/$name.c";
    copy($path, $source) or return "$name.c cannot be read: $!\n";
    chmod 0644, $source;
    my @flags = @{$how->{flags}{$name} // $how->{flags}{''}};
    my @cc = (@{$how->{cc}}, @flags, @{$how->{unset}}, "-I$ROOT/src");
    my $wrong = not_by_itself(\@cc, $source)
      // ((compiler(20, @cc, '-fstack-protector-strong', '-Dmain=main_of_the_submission', '-S', $source, '-o', "$folder/$name.s"))[1]
      || told_the_assembler("$folder/$name.s")
      || (compiler(20, @{$how->{cc}}, '-c', "$folder/$name.s", '-o', "$folder/$name.o"))[1]
      || (compiler(20, @{$how->{cc}}, '-static', "$folder/$name.o", "$how->{build}/grader/run.o", "$how->{build}/grader/$name.a", @{$how->{libraries}{$name} // []},
        '-lm', '-o', "$folder/$name"))[1]);
    return if !$wrong;
    $wrong =~ s{\Q$folder\E/}{}g;
    my ($error) = grep {/error|undefined|multiple definition|cannot/} split /\n/, $wrong;
    return $wrong =~ /\n/ && defined $error ? "$error\n$wrong" : $wrong;
}

# Runs the judge of a chapter on what was built.
sub judged {
    my ($how, $folder, $name, $assignment, $seconds, @functions) = @_;
    my ($said, $status, $stopped) = limited($seconds, {GRADED => "$folder/$name", TAP_ONLY => "@functions",
        TAP_SECONDS => $assignment->{test_seconds} // 5},
        "$how->{build}/grader/$name.judge");
    die "submissions cannot be run here: grade on Linux, or in a container there, with a temporary folder "
      . "(TMPDIR) in which programs may be run and which the user nobody may enter\n" if $status == 128 + POSIX::SIGUSR1;
    my @tests = Chapter::tests_of("the judge of chapter $name", [split /\n/, $said], $status);
    for my $told (map { $_->{told} } @tests) { $_ = plain($_) for values %$told }
    pop @tests if @tests && $tests[-1]{name} =~ /^the judge of/ && $stopped;
    return (\@tests, $stopped);
}

# How far an exercise is, by its tests.
sub state_of {
    my ($exercise, $due, $stopped, @tests) = @_;
    my @bad = grep { !$_->{ok} } @tests;
    my ($first) = grep { !@{$_->{empty}} } @bad;
    my @empty = map { @{$_->{empty}} } @bad;
    return ('wrong', 'its tests did not end in time', undef) if $stopped && @tests < $due && !@bad;
    return ('wrong', 'not all of its tests were run', undef) if @tests < $due && !@bad;
    return ('done', '', undef) if !@bad;
    return ('empty', 'still empty', undef) if grep { $_ eq $exercise->{id} } @empty;
    return ('waits', "waits for exercise $empty[0]", $empty[0]) if @empty && !$first;
    my $words = ($first // $bad[0])->{told}{wrong} // 'is wrong';
    return ('wrong', ($first // $bad[0])->{name} . ': ' . $words =~ s/\n.*//sr, undef);
}

# Which known mistake it may be, in words.
my $known;
sub diagnosis {
    my ($number, $exercise, @tests) = @_;
    $known //= Diagnosis::load("$ROOT/tests/mistakes.txt");
    my @names = Diagnosis::names($known->{$number}, $exercise->{function},
        Diagnosis::of_tests($exercise->{function}, @tests));
    return @names ? join(', or: ', @names) : undef;
}

# Grades a folder. Returns the result as Report takes it.
sub grade {
    my ($how, $assignment, $work) = @_;
    my $begun = time;
    my $folder = tempdir('grade-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    chmod 0711, $folder; # nobody runs what is in it, and lists nothing
    $TEMPORARY = $folder;
    my (%result, %by_chapter);
    %result = (name => $assignment->{name}, who => undef, score => 0, max => 0, compiled => {}, exercises => []);
    push @{$by_chapter{$_->{chapter}}}, $_ for @{$assignment->{exercises}};
    for my $number (sort keys %by_chapter) {
        my @exercises = @{$by_chapter{$number}};
        my ($name) = map { basename($_, '.c') } glob "$ROOT/chapters/${number}_*.c";
        my ($path, $missing) = file_of($work, $name);
        my $wrong = $missing // build($how, $folder, $path, $name);
        $result{compiled}{$number} = $wrong;
        my ($tests, $stopped) = $wrong ? ([], 0) : judged($how, $folder, $name, $assignment,
            ($assignment->{seconds} // 60) / keys %by_chapter, map { $_->{function} } @exercises);
        for my $exercise (@exercises) {
            my @own = grep { $_->{name} =~ /^\Q$exercise->{function}\E:/ } @$tests;
            my $due = $how->{due}{$name}{$exercise->{function}} // 1;
            my ($state, $message, $for) = $missing ? ('missing', $missing, undef)
              : $wrong ? ('uncompiled', 'does not compile: ' . $wrong =~ s/\n.*//sr, undef)
              : state_of($exercise, $due, $stopped, @own);
            my $earned = $state eq 'done' ? $exercise->{points} : 0;
            push @{$result{exercises}}, {%$exercise, earned => $earned, state => $state,
                waits_for => $for, message => $message, diagnosis => $state eq 'wrong' ? diagnosis($number, $exercise, @$tests) : undef,
                tests => \@own};
            $result{score} += $earned;
            $result{max} += $exercise->{points};
        }
    }
    $result{seconds} = time - $begun;
    return \%result;
}

# What the Makefile knows: how C is compiled, and how many tests each exercise has.
sub how {
    my $build = $ENV{BUILD} // 'build';
    my %how = (build => abs_path($build), flags => {}, libraries => {}, due => {});
    for (lines_of("$build/grader/how")) {
        my ($key, $name, $words) = /^(\w+)(?:\.(\w+))? ?(.*)/ or next;
        my @words = split ' ', $words;
        if ($key =~ /^(?:cc|unset)$/) { $how{$key} = \@words }
        else                          { $how{$key}{$name // ''} = \@words }
    }
    for my $list (glob "$build/grader/*.tests") {
        my $name = basename($list, '.tests');
        /^(\w+):/ and $how{due}{$name}{$1}++ for lines_of($list);
    }
    return \%how;
}

sub lines_of {
    my ($path) = @_;
    open my $file, '<:encoding(UTF-8)', $path or die "tools/grade: $path: $!: make graders makes it\n";
    chomp(my @lines = <$file>);
    return @lines;
}

1;
