#!/usr/bin/env perl
# The README's program, compiled and run with the README's commands, prints
# what the README says.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use Chapter;
use Test::More;

my $build  = abs_path($ENV{BUILD} // 'build');
my $folder = tempdir(CLEANUP => 1);
delete $ENV{DIGITS};
open my $readme, '<', 'README.md' or die "README.md: $!\n";
my $text = join '', <$readme>;
my ($name) = $text =~ /^Saved as `(\w+\.c)`/m;
my ($program, $commands, $output) = $text =~ /^```\w*\n(.*?)^```$/msg;
like $commands, qr/^make lib\n/, 'make lib comes first';
$commands =~ s/^make lib\n//; # a test finds it made, as make compiles:
my ($compile, $link) = map { s/ -Isrc//r } Chapter::compiler();
$commands =~ s/^cc (.*)/$compile $1 $link/m;

symlink abs_path('src'), "$folder/src" or die "$folder: $!\n";
symlink $build, "$folder/build" or die "$folder: $!\n";
open my $file, '>', "$folder/$name" or die "$name: $!\n";
print $file $program;
close $file or die "$name: $!\n";
is `cd '$folder' && { $commands } 2>&1`, $output, 'the program prints what the README says';

done_testing;
