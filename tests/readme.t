#!/usr/bin/env perl
# The README's program, compiled and run with the README's commands, prints
# what the README says.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use Chapter;
use Test::More;
use Text;

my $build  = abs_path($ENV{BUILD} // 'build');
my $folder = tempdir(CLEANUP => 1);
delete $ENV{DIGITS};
my $text = Text::of_file('README.md');
my ($name) = $text =~ /^Saved as `(\w+\.c)`/m;
my ($program, $commands, $output) = $text =~ /^```\w*\n(.*?)^```$/msg;
like $commands, qr/^make lib\n/, 'make lib comes first';
$commands =~ s/^make lib\n//; # a test finds it made, as make compiles:
my ($compile, $link) = map { s/ -Isrc//r } Chapter::compiler();
$commands =~ s/^cc (.*)/$compile $1 $link/m;

symlink abs_path('src'), "$folder/src" or die "$folder: $!\n";
symlink $build, "$folder/build" or die "$folder: $!\n";
Chapter::save("$folder/$name", split /\n/, $program);
is `cd '$folder' && { $commands } 2>&1`, $output, 'the program prints what the README says';

done_testing;
