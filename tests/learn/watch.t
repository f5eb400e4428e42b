#!/usr/bin/env perl
# make watch, as a learner uses it: in a student's copy of chapter 1.

use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use IO::Select;
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

my $seen = '';
my $watch = open(my $out, '-|') // die "no process: $!\n";
if (!$watch) { setpgrp; open STDERR, '>&', \*STDOUT; exec qw(make -s watch) } # a group of its own, as in a terminal
END { local $?; kill INT => -$watch if $watch }

# Reads on until what has come since the last time looks so.
sub shows {
    my ($pattern, $name) = @_;
    my $is_shown = eval {
        wait_until {
            sysread $out, $seen, 1 << 16, length $seen if IO::Select->new($out)->can_read(0);
            $seen =~ $pattern;
        } $name;
    };
    ok $is_shown, $name or diag $seen;
    $seen = '';
}

my $END = qr/^This goes on when you save; Ctrl-C ends it\.$/m; # stands below all that make has said

sub write_in { my ($id, $body) = @_; @lines = map { s/^ +TODO\("\Q$id\E"\);.*/    $body/r } @lines; Chapter::save($file, @lines) }

shows(qr/^Next: 1\.1 dot, in chapters\/01_dot_product\.c:(\d+); make hint-1\.1 has a hint\n.*$END/ms, 'the first exercise is named, with its place');
my @empty = @lines;
write_in('1.1', 'for (;;) return 1');
shows(qr/^chapters\/01_dot_product\.c:\d+:\d+: error: expected .*$END/ms, 'a save that does not compile is told');
@lines = @empty;
{ open my $half, '>', $file or die "$file: $!\n" }
write_in('1.1', 'float s = 0; for (int k = 0; k < n; k++) s += a[k] * a[k]; return s;');
shows(qr/^FAILED  dot: .*\n +wrong .*\n +given .*^Next: 1\.1.*$END/ms, 'one that is wrong is told: what, and of what');
unlink $file; # some editors put a new file in its place
Chapter::save($file, @{$chapter->{lines}});
shows(qr/^78 of 78 tests of chapter 01 pass\.\nEverything in this copy is written\..*$END/ms, 'what is right passes, and nothing is left');
kill INT => -$watch;
close $out;
ok $?, 'Ctrl-C ends it';
undef $watch;

chdir '/';
done_testing;
