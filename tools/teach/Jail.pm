package Jail;

# What compiles a submission, or runs it, is in a jail by bubblewrap: it has the system's
# files to read, a folder of its own, an empty /tmp, and neither a network nor other
# processes; with limits of time, memory and processes. Where that cannot be, as in most
# containers, it has the same limits, and who is root runs it as another user.

use strict;
use warnings;
use utf8;
use Fcntl qw(F_SETFD);
use IO::Socket::UNIX;
use POSIX qw(WNOHANG);
use Text;
use Time::HiRes qw(time sleep);

my $PRINTED = 4_000_000; # bytes of what a command says
# How busy the machine is does not count: what a command may take of the processor, it
# may take so many times by the clock.
my $PATIENCE = 6;
my @SYSTEM = qw(/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /etc/alternatives /etc/ld.so.cache /nix/store
  /gnu/store);
my %LIMITS = (
    compile => ['--as=1073741824', '--fsize=104857600', '--nproc=64'],
    run     => ['--as=536870912', '--fsize=0', '--nproc=16'],
);

# The kernel counts processes by user, and none of root's. So what root grades runs as a user
# that belongs to no account, and to no other that grades: each has taken a name without a
# file, which is free again when its process ends.
my ($user, $taken);
sub user {
    return $user if $user;
    for my $id (map { 61184 + ($$ + $_) % 4096 } 0 .. 4095) {
        $taken = IO::Socket::UNIX->new(Local => "\0attention-grader-$id", Listen => 1) or next;
        return $user = $id;
    }
    die "no user is free to run a submission\n";
}

# A jail for this compiler, with its folders in this place, in which what is hidden is not to
# be seen, wherever it lies. Says what it lacks (`open`), if it is not a whole one. Dies with
# one line.
sub new {
    my ($class, $place, $cc, @hidden) = @_;
    my @user = $> ? () : ('--reuid=' . user(), '--regid=' . user(), '--clear-groups');
    my @become = @user ? ('setpriv', @user, '--') : ();
    my @wrap = (qw(bwrap --unshare-all --die-with-parent --new-session), (map { ('--ro-bind-try', $_, $_) } @SYSTEM),
        qw(--dev-bind /dev/null /dev/null --tmpfs /tmp), (map { ('--tmpfs', $_) } @hidden));
    my $self = bless {place => $place, cc => $cc, whole => 1, before => [@become, @wrap]}, $class;
    chmod 0711, $place; # only who knows their names finds the folders
    $self->enter('jail');
    my $why = $self->_fault or return $self;
    @$self{qw(whole before open)} = (0, ['setpriv', @user, qw(--no-new-privs --pdeathsig KILL --)],
        "without a jail ($why), as " . ($> ? 'you' : 'another user') . ', with the same limits');
    $self->enter('open');
    my $fault = $self->_fault or return $self;
    die "submissions cannot be run here ($fault): grade on Linux, with a compiler that works, and a "
      . "temporary folder (TMPDIR) in which programs may be run, and which other users may enter\n";
}

# From now on it is in a new folder: what ran in another one cannot have left anything there.
sub enter {
    my ($self, $name) = @_;
    my $folder = $self->{folder} = "$self->{place}/$name";
    mkdir $folder and chmod 0711, $folder or die "$folder: $!\n";
    $> or chown user(), user(), $folder or die "$folder: $!\n";
    return $folder;
}

# What keeps a program from being made and run there, or nothing.
sub _fault {
    my ($self) = @_;
    my ($said, $status) = $self->compile(10, 'sh', '-c',
        'echo "int main(void) { return 0; }" >sound.c && "$@" sound.c -o sound && ./sound', 'sh', @{$self->{cc}});
    return $status ? (grep { /\S/ } split /\n/, $said)[0] // "status $status" : undef;
}

# A command as it is in the jail: what is compiled there may write into the folder.
sub _command {
    my ($self, $kind, $seconds, @command) = @_;
    my @place = $self->{whole}
      ? ($kind eq 'run' ? '--ro-bind' : '--bind', $self->{folder}, '/submission', '--chdir', '/submission', '--')
      : ('sh', '-c', 'cd "$0" && exec "$@"', $self->{folder});
    my @limits = ("--cpu=$seconds:" . (1 + $seconds), '--core=0', @{$LIMITS{$kind}});
    return (@{$self->{before}}, @place, 'prlimit', @limits, '--', @command);
}

# Compiles, for so many seconds of the processor. Returns as `finished` does.
sub compile {
    my ($self, $seconds, @command) = @_;
    my $begun = begin({TMPDIR => '.'}, undef, $self->_command('compile', $seconds, @command));
    return finished($begun, $PATIENCE * $seconds);
}

# Begins to run what the folder has, each of its processes for so many seconds; it is
# called through this socket, and told if all processes that it sees are its own.
sub run {
    my ($self, $seconds, $socket, $program) = @_;
    my @command = ("./$program", $self->{whole} || !$> ? 'alone' : ());
    # Threads have stacks: as many as a large machine has cores are not to be had.
    return begin({OMP_NUM_THREADS => 4, MALLOC_PERTURB_ => 0xa5}, $socket, $self->_command('run', $seconds, @command));
}

# Ends it, and whatever it has begun. Root also kills all other processes of the jail's
# user, since one that bubblewrap has begun a moment ago may not be tied to it yet.
sub stop {
    my ($self, $begun) = @_;
    kill KILL => -$begun->{pid};
    waitpid $begun->{pid}, 0;
    return if $>;
    system 'setpriv', '--reuid=' . user(), '--clear-groups', 'sh', '-c', 'kill -9 -1';
}

# ---- Commands that end in their time, whatever they do.

# Begins a command in a process group of its own, with nothing to read.
sub begin {
    my ($environment, $socket, @command) = @_;
    pipe(my $from, my $to) or die "no pipe: $!\n";
    my $pid = fork // die "no process can be started: $!\n";
    if (!$pid) {
        setpgrp(0, 0);
        open STDIN, '<', '/dev/null';
        open STDERR, '>&', $to;
        open STDOUT, '>&', $to;
        $socket && POSIX::dup2(fileno $socket, 3) && $socket->fcntl(F_SETFD, 0);
        %ENV = (PATH => $ENV{PATH}, LC_ALL => 'C', %$environment);
        { no warnings 'exec'; exec {$command[0]} @command }
        print STDERR "$command[0]: $!\n";
        POSIX::_exit(127);
    }
    setpgrp($pid, $pid);
    close $to;
    return {pid => $pid, from => $from};
}

# Waits until it has ended, for so many seconds at most. Returns what it has printed, its
# status, and whether it was stopped. No process of its group is left.
sub finished {
    my ($begun, $seconds) = @_;
    my $pid = $begun->{pid};
    my ($end, $said, $is_open, $status) = (time + $seconds, '', 1);
    local @SIG{qw(INT TERM HUP)} = (sub { kill KILL => -$pid; exit 1 }) x 3;
    # Who has closed its output may go on.
    until (defined $status || time >= $end) {
        if ($is_open) {
            vec(my $ready = '', fileno $begun->{from}, 1) = 1;
            select($ready, undef, undef, $end - time) > 0 or next;
            $is_open = sysread $begun->{from}, my $more, 65536;
            $said .= $more if $is_open && length $said < $PRINTED;
        }
        elsif (waitpid $pid, WNOHANG) { $status = $? }
        else                          { sleep 0.005 }
    }
    kill KILL => -$pid;
    my $is_stopped = !defined $status;
    if ($is_stopped) { waitpid $pid, 0; $status = $? }
    return (Text::safe($said), $status & 127 ? 128 + ($status & 127) : $status >> 8, $is_stopped);
}

1;
