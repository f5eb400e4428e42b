#!/usr/bin/env perl
# make watch, as a learner uses it: on a terminal, in a student's copy of chapter 1.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use IO::Select;
use IPC::Open2;
use Chapter;
use Exercises;
use Test::More;
use Wait qw(wait_until);

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
my $build = $ENV{BUILD} // 'build';
delete @ENV{qw(BUILD MAKEFLAGS MAKELEVEL MFLAGS RUN_UNDER FIGURES TAP_SECONDS)};
my $folder = tempdir(CLEANUP => 1);
my $work   = "$folder/a copy's";
system("tools/learn/student 01 \"$work\" >/dev/null && mkdir -p \"$work/build\" && cp -Rp '$build'/settings.mk '$build'/obj "
    . "'$build'/tests '$build'/lib*.a \"$work/build\"") == 0 or die "no copy can be made\n";
my $chapter = Chapter->load('chapters/01_dot_product.c');
chdir $work or die "$work: $!\n";
my ($file, @lines) = ('chapters/01_dot_product.c', Exercises::lines_of('chapters/01_dot_product.c'));

my $said = `make -s watch </dev/null 2>&1`;
like $said, qr/^tools\/learn\/watch: a terminal is needed; without one there are make progress and make -s test-01$/m,
  'without a terminal, what else there is' or diag $said;

plan skip_all => 'script, which makes terminals, is not here' if `script --version 2>/dev/null` !~ /util-linux/;

my ($out, $in, $script, $seen);
sub begin {
    my ($command) = @_;
    unlink 'after';
    Chapter::save('session', "trap : INT", 'stty -g >before', $command, 'stty -g >after');
    $script = open2($out, $in, 'script', '-qfc', 'sh session', '/dev/null');
    $seen   = '';
}

sub ends {
    my ($name) = @_;
    wait_until { -s 'after' } 'an end';
    is `cat after`, `cat before`, $name;
    waitpid $script, 0;
}

# Reads on until what has come since the last time looks so.
sub shows {
    my ($pattern, $name) = @_;
    my $is_shown = eval {
        wait_until {
            sysread $out, $seen, 1 << 16, length $seen if IO::Select->new($out)->can_read(0);
            $seen =~ s/\r//g;
            $seen =~ $pattern;
        } $name;
    };
    ok $is_shown, $name or diag $seen;
    $seen = '';
}

my $KEYS = qr/^h hint   n next   q quit$/m; # stand below all that make has said

sub write_in { my ($id, $body) = @_; @lines = map { s/^ +TODO\("\Q$id\E"\);.*/    $body/r } @lines; Chapter::save($file, @lines) }

begin('make -s watch');
shows(qr/^Next: 1\.1 dot, in chapters\/01_dot_product\.c:(\d+); make hint-1\.1 has a hint\n.*$KEYS/ms, 'the first exercise is named, with its place');
syswrite $in, 'h';
shows(qr/^Hint 1 of 2 for 1\.1 dot:\nA sum needs/m, 'h gives a hint');
syswrite $in, 'h';
shows(qr/^Hint 2 of 2 for 1\.1 dot:\nThe list/m, '... and then the next');
syswrite $in, 'n';
shows(qr/^  not ok dot_scores: .*^Next: 1\.2 dot_scores, .*$KEYS/ms, 'n goes on to the next exercise');
syswrite $in, 'h';
shows(qr/^Hint 1 of \d for 1\.2/m, '... of which h gives hints');

my @empty = @lines;
write_in('1.1', 'for (;;) return 1');
shows(qr/^chapters\/01_dot_product\.c:\d+:\d+: error: expected .*$KEYS/ms, 'a save that does not compile is told');
@lines = @empty;
{ open my $half, '>', $file or die "$file: $!\n" }
write_in('1.1', 'float s = 0; for (int k = 0; k < n; k++) s += a[k] * a[k]; return s;');
shows(qr/^FAILED  dot: .*\n +wrong .*\n +given .*^Next: 1\.2.*$KEYS/ms, 'one that is wrong is told: what, and of what');
unlink $file; # some editors put a new file in its place
Chapter::save($file, @{$chapter->{lines}});
shows(qr/^(\d+) of \1 tests of chapter 01 pass\.\nEverything in this copy is written\..*$KEYS/ms, 'what is right passes, and nothing is left');
syswrite $in, 'q';
ends('q ends it, and the terminal is as it was');
for (['Ctrl-C', sub { syswrite $in, "\cC" }], ['a signal', sub { kill TERM => `cat pid` }]) {
    my ($name, $how) = @$_;
    begin(q{sh -c 'echo $$ >pid; exec tools/learn/watch'});
    shows($KEYS, "$name: it runs");
    $how->();
    ends("$name: the terminal is as it was");
}

chdir '/';
done_testing;
