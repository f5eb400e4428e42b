package Class;

# Grades many submissions, several at a time, and keeps what came of each: where it was
# stopped it goes on, and what is as it was is not graded again.

use strict;
use warnings;
use utf8;
use Cwd qw(abs_path);
use Digest::SHA qw(sha1_hex);
use Encode qw(encode_utf8);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use JSON::PP;
use POSIX qw(sigprocmask SIG_BLOCK SIG_SETMASK SIGINT SIGTERM SIGHUP WNOHANG);
use Grader;
use Submission;
use Text;

my $ROOT = dirname(dirname(dirname(abs_path(__FILE__))));
my $json = JSON::PP->new->utf8->canonical;
my %worker; # pid => [name, where it says what is wrong]

# A name as a file's, however odd: no two have the same.
sub key {
    my ($name) = @_;
    return $name =~ /^(?!odd-|-|\.)[^[:cntrl:]]{1,200}\z/a ? $name : 'odd-' . sha1_hex($name);
}

# ---- What is kept

sub _bytes_of {
    my ($path) = @_;
    open my $file, '<:raw', $path or return '';
    local $/;
    return scalar(<$file>) // '';
}

# Writes bytes, whole or not at all.
sub save {
    my ($path, $bytes) = @_;
    my $part = "$path.part-$$";
    my $is_whole = open my $file, '>:raw', $part;
    $is_whole &&= print $file $bytes;
    $is_whole &&= close $file;
    return if $is_whole && rename $part, $path;
    my $why = $!;
    unlink $part;
    die Text::line($path), ": $why\n";
}

# Of who was stopped before, nothing is left.
sub _remove_parts {
    my ($folder) = @_;
    opendir my $files, $folder or return;
    /\.part-\d+\z/ and unlink "$folder/$_" for readdir $files;
}

# A sum of all that a result depends on, but for the submission: the assignment, the
# graders of its chapters, and the tools.
sub rules {
    my ($how, $assignment) = @_;
    my @chapters = map { my $name = $_; map {"$name.$_"} qw(judge a tests) } Grader::chapters($assignment);
    my @tools = sort grep { index($_, "$ROOT/tools/") == 0 } map { abs_path($_) } values %INC;
    my @paths = ((map {"$how->{build}/grader/$_"} @chapters, 'run.o', 'how', 'confined'),
        (map {"$how->{build}/mistakes/$_->{chapter}.json"} @{$assignment->{exercises}}), Grader::headers(), @tools);
    return sha1_hex(join "\0", $json->encode($assignment), map { sha1_hex(_bytes_of($_)) } @paths);
}

sub _kept {
    my ($path) = @_;
    my $kept = eval { $json->decode(_bytes_of($path)) };
    return ref $kept eq 'HASH' ? $kept : {};
}

# ---- One of them

# Grades what is in these paths, if it is not as it was, and keeps the result at $to.
sub _grade {
    my ($how, $assignment, $rules, $name, $paths, $to) = @_;
    my @chapters = Grader::chapters($assignment);
    my %text = Submission::texts($paths, @chapters);
    my $sum = sha1_hex(join "\0", $rules, map { exists $text{$_} ? $text{$_} // 'no file' : 'none' } @chapters);
    return if (_kept($to)->{sum} // '') eq $sum;
    my $result = Grader::grade($how, $assignment, \%text);
    $result->{who} = Text::line($name);
    save($to, $json->encode({%$result, sum => $sum}));
}

# ---- All of them

# Does something with each of these names, each in a process of its own, so many at a
# time. Returns what kept it from being done, by name.
sub _each_apart {
    my ($jobs, $do, $tell, @names) = @_;
    local $SIG{CHLD} = 'DEFAULT';
    my ($finished, @queue, %fault) = (0, @names);
    while (@queue || %worker) {
        while (@queue && keys %worker < $jobs) { _begin($do, shift @queue) }
        $tell->($finished);
        my $pid = wait;
        my ($name, $from) = @{delete $worker{$pid} // next};
        my $said = do { local $/; <$from> } // '';
        $fault{$name} = $? & 127 ? 'its grading was ended by signal ' . ($? & 127) : Text::line($said) if $?;
        $finished++;
    }
    $tell->($finished);
    return %fault;
}

sub _begin {
    my ($do, $name) = @_;
    pipe(my $from, my $to) or die "no pipe: $!\n";
    # Whoever stops this one must know of the process, and that must know what to do:
    # until both do, signals wait.
    my ($stopping, $before) = (POSIX::SigSet->new(SIGINT, SIGTERM, SIGHUP), POSIX::SigSet->new);
    sigprocmask(SIG_BLOCK, $stopping, $before);
    my $pid = fork // die "no process can be started: $!\n";
    if   ($pid) { $worker{$pid} = [$name, $from] }
    else        { %worker = (); $SIG{$_} = \&_end for qw(INT TERM HUP) }
    sigprocmask(SIG_SETMASK, $before);
    return if $pid;
    exit 0 if eval { $do->($name); 1 };
    print $to substr(encode_utf8(Text::line($@ =~ s/ at \S+ line \d+\.?\n?\z//r =~ s/\n.*//sr)), 0, 1000);
    close $to;
    exit 1;
}

# Ends a process that grades, once, however often it is told.
sub _end {
    $SIG{$_} = 'IGNORE' for qw(INT TERM HUP);
    exit 1;
}

# Stops what is being done. Perl notices no signal that comes just before a call waits, so
# a process is told until it has ended.
sub stop {
    while (my @left = grep { !waitpid $_, WNOHANG } keys %worker) {
        kill TERM => @left;
        select undef, undef, undef, 0.02;
    }
}

# Grades all (name => paths) into a folder. Returns for each, by name, {who, key, and
# result or fault}. Dies with one line.
sub grade {
    my ($how, $assignment, $of, $out, $jobs, $tell) = @_;
    make_path("$out/results", "$out/reports", {error => \my $errors});
    die Text::line(join ': ', %{$errors->[0]}), "\n" if @$errors;
    _remove_parts($_) for $out, "$out/results", "$out/reports";
    my $rules = rules($how, $assignment);
    my @names = sort keys %$of;
    my $kept_of = sub { "$out/results/" . key($_[0]) . '.json' };
    my %fault = _each_apart($jobs, sub {
        my ($name) = @_;
        _grade($how, $assignment, $rules, $name, $of->{$name}, $kept_of->($name));
    }, $tell, @names);
    my @all;
    for my $name (@names) {
        my %its = (who => Text::line($name), key => key($name), fault => $fault{$name});
        my $result = defined $its{fault} ? {} : _kept($kept_of->($name));
        if ($result->{exercises}) { $its{result} = $result }
        else                      { $its{fault} ||= 'there is no result' }
        push @all, \%its;
    }
    return @all;
}

1;
