#!/usr/bin/env perl
# What tells of the book in places other than its pages tells the same: its title
# and version in CITATION.cff and CHANGELOG.md, its licences, what has to be
# installed in README.md, CONTRIBUTING.md, .ci/run and the dev container, and
# the README's program.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use Chapter;
use Test::More;
use Text;

sub value_of {
    my ($name, $text) = @_;
    return $text =~ /^$name: *'?(.*?)'?$/m ? $1 : undef;
}

my ($book)  = Text::of_file('book.md') =~ /^---\n(.*?)^---$/ms;
my $version = value_of('version', $book);
my $licence = Text::of_file('LICENSE.md');

# ---- What is cited, and what has changed

my $citation = Text::of_file('CITATION.cff');
my ($cited)  = $citation =~ /^preferred-citation:\n(.*)/ms;
$cited =~ s/^  //mg;
my ($abstract) = $citation =~ /^abstract: >-\n((?:  .*\n)+)/m;
for (['the citation', $citation, version => 'version'], ['the citation', $citation, 'date-released' => 'date'],
    ['the citation', $citation, title => 'title'], ['the book', $cited, title => 'title'],
    ['the citation', $citation, '  - name' => 'author'], ['the book', $cited, '  - name' => 'author'],
    ['the book', $cited, edition => 'version'], ['the abstract', 'abstract: ' . join(' ', split ' ', $abstract), abstract => 'description']) {
    my ($what, $text, $name, $named) = @$_;
    is value_of($name, $text), value_of($named, $book), "$what has the $named of book.md";
}
my ($author, $year) = (value_of('author', $book), value_of('year', $cited));
like $licence, qr/^Copyright \(c\) $year \Q$author\E$/m, 'so has the licence';
is_deeply [map { my $text = $_; map { value_of($_, $text) } qw(type license) } $citation, $cited], [qw(software MIT book CC-BY-4.0)],
  'code is under the MIT licence, prose under CC BY 4.0';
like $licence, qr{^- Code: the MIT licence.*^- Prose and figures:.*?/by/4\.0/}ms, 'as LICENSE.md says';

my ($latest) = Text::of_file('CHANGELOG.md') =~ /^## (.*)/m;
is $latest, $version, 'what has changed begins with the version of book.md';

# ---- What has to be installed

sub packages_after { return map { split ' ' } map { s/\\\n//gr } @_ }
my $install = qr/apt-get install (?:-y )?((?:[^\n"&\\]|\\\n)+)/;

my $readme       = Text::of_file('README.md');
my $contributing = Text::of_file('CONTRIBUTING.md');
my @named        = packages_after($readme =~ /$install/g);
push @named, $contributing =~ /`([a-z0-9-]+)`/g;
my %is_named = map { $_ => 1 } @named;

my @checked    = split ' ', join('', Text::of_file('.ci/run') =~ /packages\+?=\(\n(.*?)^\)/msg) =~ s/#.*//mgr;
my %is_checked = map { $_ => 1 } @checked;
cmp_ok scalar @checked, '>=', 10, '.ci/run installs packages';
is_deeply [grep { !$is_named{$_} } @checked], [],
  'what .ci/run installs, README.md or CONTRIBUTING.md names';
is_deeply [grep { !$is_checked{$_} } packages_after($readme =~ /$install/g)], [],
  'what README.md says is installed by .ci/run';

my $container = decode_json(Text::of_file('.devcontainer/devcontainer.json'));
is_deeply [sort(packages_after($container->{onCreateCommand} =~ /$install/g))], [sort @checked],
  'the dev container has what .ci/run installs';

# ---- The README's program, compiled and run with the README's commands, prints what it says.

my $build  = abs_path($ENV{BUILD} // 'build');
my $folder = tempdir(CLEANUP => 1);
delete $ENV{DIGITS};
my ($name) = $readme =~ /^Saved as `(\w+\.c)`/m;
my ($program, $commands, $output) = $readme =~ /^```\w*\n(.*?)^```$/msg;
like $commands, qr/^make lib\n/, 'make lib comes first';
$commands =~ s/^make lib\n//; # a test finds it made, as make compiles:
my ($compile, $link) = map { s/ -Isrc//r } Chapter::compiler();
$commands =~ s/^cc (.*)/$compile $1 $link/m;

symlink abs_path('src'), "$folder/src" or die "$folder: $!\n";
symlink $build, "$folder/build" or die "$folder: $!\n";
Chapter::save("$folder/$name", split /\n/, $program);
is `cd '$folder' && { $commands } 2>&1`, $output, 'the program prints what the README says';

done_testing;
