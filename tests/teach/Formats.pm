package Formats;

# The forms of what a teacher's tools read: reports, what each says has been earned, and archives.

use strict;
use warnings;
use utf8;
use Encode qw(decode);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use Exporter qw(import);
use IO::Uncompress::Unzip qw($UnzipError);
use JSON::PP;
use MIME::Base64 qw(decode_base64);

our @EXPORT_OK = qw(%FORM %EARNED faults read_json unpacked);

# An object has just these keys.
our %FORM = (
    gradescope => {score => 'number', execution_time => 'number', output => 'string', output_format => 'text',
        visibility => 'visible', stdout_visibility => qr/^(?:visible|hidden|after_due_date|after_published)$/,
        tests => [{name => 'string', number => 'string', score => 'number', max_score => 'number',
            status => qr/^(?:passed|failed)$/, output => 'string', output_format => 'text', tags => ['string'],
            visibility => 'visible'}]},
    github => {version => 'integer', status => qr/^(?:pass|fail|error)$/, max_score => 'number', tests => [{name => 'string',
        status => qr/^(?:pass|fail|error)$/, score => 'number', message => 'string', test_code => 'string',
        filename => 'string', line_no => 'integer', duration => 'number'}]},
);

sub type_of {
    my ($value) = @_;
    return !defined $value ? 'null' : JSON::PP::is_bool($value) ? 'boolean' : ref $value eq 'HASH' ? 'object'
      : ref $value eq 'ARRAY'                                              ? 'list'
      : JSON::PP->new->allow_nonref->encode($value) =~ /^"/               ? 'string'
      : $value =~ /^-?\d+$/                                               ? 'integer' : 'number';
}

# What is wrong with a value at a place.
sub faults {
    my ($value, $form, $at) = @_;
    my $type = type_of($value);
    if (ref $form eq 'HASH') {
        return "$at is a $type, no object" if $type ne 'object';
        return ((map {"$at has no $_"} grep { !exists $value->{$_} } keys %$form),
            map { exists $form->{$_} ? faults($value->{$_}, $form->{$_}, "$at.$_") : "$at has a $_" } keys %$value);
    }
    if (ref $form eq 'ARRAY') {
        return "$at is a $type, no list" if $type ne 'list';
        return map { faults($value->[$_], $form->[0], "$at\[$_]") } 0 .. $#$value;
    }
    return "$at is a $type" if $type eq 'object' || $type eq 'list';
    return ($value // '') =~ $form ? () : "$at is '$value'" if ref $form;
    return if $form eq $type || $form eq 'number' && $type eq 'integer';
    return $form =~ /^(?:string|number|integer|boolean|null)/ || $type ne 'string' || $value ne $form
      ? "$at is the $type " . ($value // 'null') : ();
}

# What each exercise has earned, as the format tells it: points, and whether it passed.
our %EARNED = (
    gradescope => sub { map { [$_->{score}, $_->{status} eq 'passed'] } @{$_[0]{tests}} },
    github     => sub { map { [$_->{score}, $_->{status} eq 'pass'] } @{$_[0]{tests}} },
);

sub read_json {
    my ($format, $text) = @_;
    if ($format eq 'github') {
        $text =~ m{^[A-Za-z0-9+/]+=*\n\z} or die "not base64 in one line\n";
        $text = decode('UTF-8', decode_base64($text), Encode::FB_CROAK);
    }
    return JSON::PP->new->decode($text);
}

# Unpacks an archive as any program would, with what files may and their time, and
# returns what each may, by name.
sub unpacked {
    my ($archive, $into) = @_;
    my $zip = IO::Uncompress::Unzip->new($archive) or die "$archive: $UnzipError\n";
    my %mode;
    do {
        my $name = $zip->getHeaderInfo->{Name};
        die "$name stands twice\n" if exists $mode{$name};
        make_path(dirname("$into/$name"));
        open my $file, '>:raw', "$into/$name" or die "$into/$name: $!\n";
        local $/;
        print $file scalar(<$zip>) // '';
        close $file;
        utime(($zip->getHeaderInfo->{Time}) x 2, "$into/$name");
        $mode{$name} = '';
    } while ($zip->nextStream > 0);
    # Attributes stand in the directory at the end alone.
    open my $file, '<:raw', $archive or die "$archive: $!\n";
    my $bytes = do { local $/; <$file> };
    while ($bytes =~ /PK\x01\x02.{2}.{22}(.{2})(.{2})(.{2}).{4}(.{4}).{4}/sg) {
        my ($length, $attributes) = (unpack('v', $1), unpack 'V', $4);
        my $name = substr $bytes, pos $bytes, $length;
        next if !exists $mode{$name};
        $mode{$name} = sprintf '%o', $attributes >> 16;
        chmod $attributes >> 16 & 0777, "$into/$name";
    }
    return \%mode;
}

1;
