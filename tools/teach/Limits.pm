package Limits;

# Commands that work on a submission, or with it: they end in their time, and what they
# print is text. The compiler reads for a submission whatever it asks for, so it runs where
# there is little to read (tools/teach/grader/confined.c): the system's files, and a folder.

use strict;
use warnings;
use utf8;
use Cwd qw(abs_path);
use Encode qw(decode);
use Errno qw(EINTR);
use File::Basename qw(dirname);
use POSIX qw(WNOHANG);
use Time::HiRes qw(time sleep);

my $ROOT = dirname(dirname(dirname(abs_path(__FILE__))));
my $PRINTED = 4_000_000; # bytes of what a command says
# How busy the machine is does not count: what a command may take of the processor, it
# may take so many times by the clock.
my $PATIENCE = 6;
my ($FAULT, $NO_RULES) = (125, 124); # statuses of confined

# Runs a command (a list) in a process group of its own, with nothing to read, for at
# most so many seconds. Returns what it has printed, its status, and whether it was
# stopped. No process of the group is left.
sub limited {
    my ($seconds, $environment, @command) = @_;
    pipe(my $from, my $to) or die "no pipe: $!\n";
    my $pid = fork // die "no process can be started: $!\n";
    _become($environment, $to, @command) if !$pid;
    setpgrp($pid, $pid);
    local @SIG{qw(INT TERM HUP)} = (sub { kill KILL => -$pid; exit 1 }) x 3;
    close $to;
    my $end = time + $seconds;
    my ($said, $stopped) = _read_until($end, $from);
    # Who has closed its output may go on.
    for (my $wait = 0.001; !$stopped && !waitpid $pid, WNOHANG; $wait *= 2) {
        if (time >= $end) { $stopped = 1 }
        else              { sleep($wait < 0.1 ? $wait : 0.1) }
    }
    my $status = $?;
    kill KILL => -$pid;
    if ($stopped) { waitpid $pid, 0; $status = $? }
    return (plain(decode('UTF-8', $said)), $status & 127 ? 128 + ($status & 127) : $status >> 8, $stopped);
}

sub _become {
    my ($environment, $to, @command) = @_;
    setpgrp(0, 0);
    open STDIN, '<', '/dev/null';
    open STDOUT, '>&', $to;
    open STDERR, '>&', $to;
    %ENV = (PATH => $ENV{PATH}, LC_ALL => 'C', %$environment);
    { no warnings 'exec'; exec {$command[0]} @command }
    syswrite STDERR, "$command[0]: $!\n";
    POSIX::_exit(127);
}

# What comes, until it ends or the time has come; and whether it had not ended.
sub _read_until {
    my ($end, $from) = @_;
    my $said = '';
    while ((my $left = $end - time) > 0) {
        vec(my $ready = '', fileno $from, 1) = 1;
        my $some = select $ready, undef, undef, $left;
        next if $some < 0 && $! == EINTR;
        die "what a command prints cannot be read: $!\n" if $some < 0;
        last if !$some;
        sysread $from, my $more, 65536 or return ($said, 0);
        $said .= $more if length $said < $PRINTED;
    }
    return ($said, 1);
}

# A text without what commands a terminal, or turns a line around.
sub plain {
    my ($text) = @_;
    return $text =~ s/([^\P{Cc}\t\n]|[\x{202a}-\x{202e}\x{2066}-\x{2069}])/sprintf '\\x%02x', ord $1/ger;
}

sub cannot_run {
    my ($why) = @_;
    die "submissions cannot be run here ($why): grade on Linux, or in a container there, with a temporary "
      . "folder (TMPDIR) in which programs may be run and which the user nobody may enter\n";
}

# Runs a command confined to a folder. What fails before it has begun is nobody's fault
# who hands something in.
sub _confined {
    my ($build, $folder, $environment, $seconds, @command) = @_;
    my ($said, $status, $stopped) = limited($PATIENCE * $seconds, {TMPDIR => '.', %$environment},
        "$build/grader/confined", $seconds, $folder, $ROOT, $build, '--', @command);
    cannot_run($said =~ s/\s*\n.*//sr) if $status == $FAULT || $status == 127;
    return ($said, $status, $stopped);
}

# Whether a folder cannot be confined, but UNCONFINED=1 says that this is no matter.
sub is_open {
    my ($build, $folder) = @_;
    my ($said, $status, $stopped) = _confined($build, $folder, {}, 10);
    return 0 if !$status;
    cannot_run("what confines them ended with status $status") if $status != $NO_RULES;
    return 1 if ($ENV{UNCONFINED} // '') eq '1';
    die "there is no Landlock here, so a submission could include the book's solutions, and read what you can read: "
      . "grade on Linux 5.13 or later, in no container that hides it, or say UNCONFINED=1\n";
}

# The compiler, which a submission can make work for ever or for all memory: so many
# seconds of the processor. Returns what is wrong.
sub compiler {
    my ($build, $folder, $seconds, @command) = @_;
    my %may = ($ENV{UNCONFINED} // '') eq '1' ? (UNCONFINED => 1) : ();
    my ($said, $status, $stopped) = _confined($build, $folder, \%may, $seconds, @command);
    return $stopped ? "the compiler did not end in $seconds s\n" : !$status ? ''
      : $said || "the compiler ended with status $status\n";
}

1;
