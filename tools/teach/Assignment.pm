package Assignment;

# What a teacher sets: which exercises, for how many points, until when. A file of
# lines such as
#
#   name = hw1                    # letters, digits, - and _: files are named so
#   title = Scores and shares
#   exercises = 1.1 1.2 2.1       # or, with all that these chapters have: chapters = 01 02
#   points 2.1 = 5                # if not those that the book gives
#   due = 1 December, noon        # told in the assignment, in these words
#   seconds = 60                  # that grading one submission may take; else 60 a chapter,
#                                 # and at most 360
#
# of which name, and exercises or chapters, must be there. "#", first in a line or
# after a blank, begins a comment.

use strict;
use warnings;
use utf8;
use File::Basename qw(basename dirname);
use File::Glob qw(bsd_glob);
use Cwd qw(abs_path);
use List::Util qw(first min uniq);
use Chapter;
use Text;

my $ROOT = dirname(dirname(dirname(abs_path(__FILE__))));
my ($MOST_POINTS, $SECONDS) = (1000, 60);
my $MOST_SECONDS = 360; # Gradescope ends a job after 600 s, building included
my @chapters;

# Returns name, title, due (undef if open), seconds, and exercises in the book's
# order: id, chapter (02), function, points. Without a path, these are all
# that a program can test. Dies with one line.
sub load {
    my ($path) = @_;
    return _assigned({name => 'all', title => 'All exercises'}, map { _testable($_) } _chapters()) if !defined $path;
    my ($given, $line) = _read($path);
    my $wrong = sub { die "$path:$line->{$_[0]}: $_[1]\n" };
    _check($path, $given, $wrong);
    my @exercises = _chosen($given, $wrong);
    for my $key (sort grep { /^points / } keys %$given) {
        my ($id) = $key =~ / (.*)/;
        my $exercise = first { $_->{id} eq $id } @exercises
          or $wrong->($key, "exercise $id gets points, but is not chosen: @{[map { $_->{id} } @exercises]} are");
        $wrong->($key, "exercise $id is worth '$given->{$key}' points: a number from 1 to $MOST_POINTS is needed")
          if !_is_number($given->{$key}, $MOST_POINTS);
        $exercise->{points} = 0 + $given->{$key};
    }
    return _assigned($given, @exercises);
}

# What is graded: what the assignment's file says, or else what CHAPTER names.
sub asked {
    my ($conf) = @_;
    return load($conf) if length($conf // '');
    my @ids = split ' ', $ENV{CHAPTER} // '' or die "say what to grade: NAME=hw1 or CHAPTER=02 is needed\n";
    return named(@ids);
}

# The exercises of these words: chapters and exercises, such as 02 and 3.1, or all.
sub named {
    my (@ids) = @_;
    return load() if "@ids" eq 'all';
    my $name = "CHAPTER=@ids";
    my %given = (name => $name, exercises => join(' ', grep { /\./ } @ids), chapters => join ' ', grep { !/\./ } @ids);
    delete @given{grep { $given{$_} eq '' } keys %given};
    return _assigned(\%given, _chosen(\%given, sub { die "$name: $_[1]\n" }));
}

# What the file says of each key, and in which line.
sub _read {
    my ($path) = @_;
    die "$path is no file: one with lines such as 'name = hw1' is needed\n" if -e $path && !-f $path;
    open my $file, '<:raw', $path or die "$path cannot be read: $!\n";
    my (%given, %line);
    while (my $text = <$file>) {
        utf8::decode($text) or die "$path:$.: this is not UTF-8\n";
        $text =~ s/\A\x{feff}// if $. == 1;
        $text =~ s/(?:^|\s)#.*//s;
        next if $text !~ /\S/;
        my ($key, $value) = $text =~ /^\s*(\S+(?:\s+\S+)*?)\s*=\s*(.*?)\s*\z/;
        die "$path:$.: '" . $text =~ s/^\s+|\s+\z//gr . "' says nothing: a line such as 'name = hw1' is needed\n"
          if !defined $key;
        $key =~ s/\s+/ /g;
        die "$path:$.: '$key' is not known: name, title, exercises, chapters, points 2.1, due or seconds is needed\n"
          if $key !~ /^(?:name|title|exercises|chapters|points \w+\.\d+|due|seconds)$/;
        die "$path:$.: '$key' is set in line $line{$key} already\n" if $line{$key};
        die "$path:$.: nothing follows '$key ='\n" if $value eq '';
        die "$path:$.: '$key' holds a control character\n" if $value =~ /[[:cntrl:]]/;
        ($given{$key}, $line{$key}) = ($value, $.);
    }
    return (\%given, \%line);
}

# Dies with what the file says, or does not say, of all but the exercises.
sub _check {
    my ($path, $given, $wrong) = @_;
    my ($name, $seconds) = @$given{qw(name seconds)};
    die "$path: there is no name: a line such as 'name = hw1' is needed\n" if !defined $name;
    die "$path: no exercises are chosen: a line such as 'exercises = 1.1 2.1' is needed\n"
      if !defined($given->{exercises} // $given->{chapters});
    $wrong->('name', "the name is '$name': at most 40 letters (a to z), digits, - and _ are needed, and "
        . 'a letter or digit first') if $name !~ /^[a-zA-Z0-9][\w-]{0,39}\z/a;
    # Of a file that is called by its name, with make NAME=hw1, what is made is called so.
    my $called = $ENV{NAME} // $name;
    $wrong->('name', "the name is '$name': '$called' is needed, as the file is called")
      if $name ne $called && basename($path, '.conf') eq $called;
    $wrong->('seconds', "grading takes '$seconds' seconds: a number from 1 to $MOST_SECONDS is needed, "
        . 'since some systems end all after 600, building the graders included')
      if defined $seconds && !_is_number($seconds, $MOST_SECONDS);
}

# A whole number, and no ones of other alphabets.
sub _is_number { return $_[0] =~ /^[1-9][0-9]{0,8}\z/ && $_[0] <= $_[1] }

# The book's chapters with exercises, read once.
sub _chapters {
    @chapters = map { Chapter->load($_) } bsd_glob(Text::path($ROOT) . '/chapters/*_*.c') if !@chapters;
    return grep { @{$_->{exercises}} } @chapters;
}

# Those exercises of a chapter that are functions: a program cannot test the others.
sub _testable {
    my ($chapter) = @_;
    return map { +{id => $_->{id}, chapter => $chapter->{number}, function => $_->{function},
        points => 0 + $_->{points}} } grep { $_->{function} } @{$chapter->{exercises}};
}

# The exercises that are chosen, in the book's order.
sub _chosen {
    my ($given, $wrong) = @_;
    my %chosen;
    for my $key (grep { defined $given->{$_} } qw(chapters exercises)) {
        my @ids = grep { length } split /[\s,]+/, $given->{$key};
        $wrong->($key, "no exercise is chosen: a line such as 'exercises = 1.1 2.1' is needed") if !@ids;
        my @found = map { _find($key, $_, sub { $wrong->($key, @_) }) } @ids;
        $chosen{$_->{id}}++ and $wrong->($key, "exercise $_->{id} is chosen twice") for @found;
    }
    return grep { $chosen{$_->{id}} } map { _testable($_) } _chapters();
}

# The exercises that are meant by a chapter's number, or by that of an exercise.
sub _find {
    my ($key, $id, $refuse) = @_;
    my $plain = sub { $_[0] =~ s/^0+(?=.)//r };
    my $number = $key eq 'chapters' ? $id : $id =~ s/\..*//sr;
    my @all = _chapters();
    my @numbers = map { $plain->($_->{number}) } @all;
    my @digits = grep { /\d/ } @numbers;
    my ($of) = grep { $plain->($_->{number}) eq $plain->($number) } @all
      or $refuse->("there is no chapter $number with exercises" . ($key eq 'chapters' ? '' : ", as '$id' would have it")
          . ": one of $digits[0] to $digits[-1]" . join('', map {" or $_"} grep { !/\d/ } @numbers) . ' is needed');
    my @testable = _testable($of);
    return @testable if $key eq 'chapters';
    my ($found) = grep { $_->{id} eq $id } @testable;
    return $found if $found;
    my $is_by_hand = grep { $_->{id} eq $id } @{$of->{exercises}};
    my $ids = join(', ', map { $_->{id} } @testable) =~ s/.*\K, / or /r;
    return $refuse->("exercise $id is " . ($is_by_hand ? 'done by hand, which no program can grade'
          : 'not in chapter ' . $plain->($number)) . ": $ids is needed");
}

sub _assigned {
    my ($given, @exercises) = @_;
    return {name => $given->{name}, title => $given->{title} // $given->{name}, due => $given->{due},
        seconds => 0 + ($given->{seconds} // min($MOST_SECONDS, $SECONDS * uniq map { $_->{chapter} } @exercises)),
        exercises => \@exercises};
}

1;
