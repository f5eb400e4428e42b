package Trial;

# A chapter, or a file of src, with other lines than its own: compiled, linked with the
# tests that hold it and with all else, and run.

use strict;
use warnings;
use utf8;
use Chapter;
use File::Path qw(make_path);

# What make says of how C is compiled and linked.
my $build = $ENV{BUILD} // 'build';
my ($compile, $link) = Chapter::compiler();
delete @ENV{qw(RUN_UNDER FIGURES TAP_SMALL)};
$ENV{LC_ALL} = 'C'; # the compiler's words are looked for

# Where objects and programs of a trial are made.
sub folder {
    make_path(my $folder = "$build/trials/$$");
    return $folder;
}

# Compiles the lines as the chapter they come from; returns the object. Dies with what the
# compiler says first, a warning too: what the compiler knows proves nothing of tests. A
# loop without a body or an unused parameter may be the mistake itself.
our $watch = ''; # more flags
our $warnings = '-Werror -Wno-unused -Wno-unused-parameter -Wno-misleading-indentation';
sub compiled {
    my ($chapter, @lines) = @_;
    my $stem = folder() . "/$chapter->{name}";
    Chapter::save("$stem.c", @lines);
    my ($number) = $chapter->{name} =~ /^([^_]+)/;
    my $said = `$compile -O1 $watch $warnings \\
      -Isrc/kernel -Isrc/support -Dmain=main_$number -c '$stem.c' -o '$stem.o' 2>&1`;
    die 'does not compile: ' . ($said =~ /((?:error|warning).*)/ ? $1 : $said) . "\n" if $?;
    return "$stem.o";
}

# Runs the tests of this name on an object, linked with these files, or else with all of the
# book. Returns them as Chapter::run_tests does.
sub tested {
    my ($object, $tests, @with) = @_;
    my $program = folder() . '/tests';
    @with = "$build/libattention.a" if !@with;
    my $said = `$compile '$object' $build/tests/$tests.o @with $link -o '$program' 2>&1`;
    die "does not link: $said\n" if $?;
    return Chapter::run_tests($program);
}

# Does the page still say what the chapter's program prints, with this object in it?
sub holds_page {
    my ($object, $chapter) = @_;
    my $program = folder() . '/program';
    my $said = `$compile $build/start/$chapter->{name}.o '$object' $build/libattention.a $link -o '$program' 2>&1`;
    die "does not link: $said\n" if $?;
    return !system("timeout 60 tools/weave/outputs --check '$chapter->{path}' '$program' >/dev/null 2>&1");
}

END { local $?; system('rm', '-rf', "$build/trials/$$") if -e "$build/trials/$$" }

1;
